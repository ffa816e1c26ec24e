/**
 * The changes in a new OpenAPI document that break callers of an old one. Added operations, optional parameters and members, statuses,
 * codes and credentials break no caller.
 */
import { breaksInSchema, dereference, type Direction, type Document } from './schemas.ts';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: unknown;
}

interface Body {
  required?: boolean;
  content?: Record<string, { schema?: unknown }>;
}

interface Response extends Body {
  headers?: Record<string, unknown>;
}

interface Operation {
  operationId?: string;
  security?: Record<string, string[]>[];
  parameters?: unknown[];
  requestBody?: unknown;
  responses?: Record<string, unknown>;
}

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

/** An operation and its document. */
interface Place {
  document: Document;
  operation: Operation;
  parameters: Parameter[];
}

/** The operations by method and path, with the names of path parameters removed. */
function operationsOf(document: Document): Map<string, Place> {
  const found = new Map<string, Place>();
  for (const [path, value] of Object.entries((document['paths'] ?? {}) as Record<string, Document>)) {
    const item = dereference(document, value) as Document;
    for (const method of methods.filter((name) => name in item)) {
      const operation = item[method] as Operation;
      const shared = (item['parameters'] ?? []) as unknown[];
      const parameters = [...shared, ...(operation.parameters ?? [])].map((one) => dereference(document, one) as Parameter);
      found.set(`${method.toUpperCase()} ${path.replaceAll(/{\w+}/g, '{}')}`, { document, operation, parameters });
    }
  }
  return found;
}

/** Each breaking change from `before` to `now`, in the order of `before`; empty when there is none. */
export function breaksBetween(before: Document, now: Document): string[] {
  const successors = operationsOf(now);
  return [...operationsOf(before)].flatMap(([name, old]) => {
    const next = successors.get(name);
    if (!next) return [`${name} is gone`];
    return [
      ...breaksInName(old, next),
      ...breaksInSecurity(old, next),
      ...breaksInParameters(old, next),
      ...breaksInBody(old, next),
      ...breaksInResponses(old, next),
    ].map((text) => `${name} ${text}`);
  });
}

function breaksInName({ operation: { operationId: old } }: Place, { operation: { operationId } }: Place): string[] {
  return old === operationId ? [] : [`is called ${operationId}, was ${old}: clients are generated with functions of that name`];
}

const securityOf = ({ document, operation }: Place) => (operation.security ?? document['security'] ?? []) as Record<string, string[]>[];

function breaksInSecurity(old: Place, next: Place): string[] {
  const before = securityOf(old);
  const now = securityOf(next);
  // An empty list of alternatives allows callers without a credential, as an empty alternative does.
  if (now.length === 0) return [];
  const enough = (given: Record<string, string[]>, asked: Record<string, string[]>) =>
    Object.entries(asked).every(([scheme, scopes]) => given[scheme] && scopes.every((scope) => given[scheme]?.includes(scope)));
  return (before.length === 0 ? [{}] : before)
    .filter((given) => !now.some((asked) => enough(given, asked)))
    .map((given) => `is not open any more to ${Object.keys(given).join(' with ') || 'callers without a credential'} as before`);
}

/** Path parameters are matched by their place, all others by name. */
function keyOf({ name, in: place }: Parameter, index: number): string {
  if (place === 'path') return `path ${index}`;
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

function parametersOf({ parameters }: Place): Map<string, Parameter> {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  return new Map(parameters.map((parameter) => [keyOf(parameter, inPath.indexOf(parameter)), parameter]));
}

function breaksInParameters(old: Place, next: Place): string[] {
  const before = parametersOf(old);
  const now = parametersOf(next);
  const added = [...now].filter(([key, { required }]) => required && !before.has(key)).map(([key]) => `asks for the parameter ${key}`);
  const changed = [...before].flatMap(([key, parameter]) => {
    const successor = now.get(key);
    if (!successor) return [`does not take the parameter ${key} any more`];
    const required = successor.required && !parameter.required ? [`asks for the parameter ${key}`] : [];
    return required.concat(schemaBreaks(old, parameter.schema, next, successor.schema, 'request', `parameter ${parameter.name}`));
  });
  return [...added, ...changed];
}

const schemaBreaks = (old: Place, before: unknown, next: Place, now: unknown, direction: Direction, at: string) =>
  breaksInSchema({ document: old.document, schema: before ?? {} }, { document: next.document, schema: now ?? {} }, direction, at);

const bodyOf = ({ document, operation }: Place) => dereference(document, operation.requestBody) as Body | undefined;

function breaksInBody(old: Place, next: Place): string[] {
  const before = bodyOf(old);
  const now = bodyOf(next);
  if (!before) return now?.required ? ['asks for a body'] : [];
  if (!now) return ['does not take a body any more'];
  const required = now.required && !before.required ? ['asks for a body'] : [];
  return [...required, ...breaksInContent(old, before, next, now, 'request', 'body')];
}

function breaksInContent(old: Place, before: Body, next: Place, now: Body, direction: Direction, at: string): string[] {
  return Object.entries(before.content ?? {}).flatMap(([type, { schema }]) => {
    const successor = now.content?.[type];
    if (!successor) return [`${at}: there is no ${type} any more`];
    return schemaBreaks(old, schema, next, successor.schema, direction, at);
  });
}

function breaksInResponses(old: Place, next: Place): string[] {
  return Object.entries(old.operation.responses ?? {}).flatMap(([status, reference]) => {
    const successor = next.operation.responses?.[status];
    if (successor === undefined) return [`does not answer ${status} any more`];
    const before = dereference(old.document, reference) as Response;
    const now = dereference(next.document, successor) as Response;
    return breaksInHeaders(old, before, next, now, status).concat(breaksInContent(old, before, next, now, 'response', status));
  });
}

function breaksInHeaders(old: Place, before: Response, next: Place, now: Response, status: string): string[] {
  return Object.entries(before.headers ?? {}).flatMap(([name, reference]) => {
    const header = dereference(old.document, reference) as Omit<Parameter, 'name' | 'in'>;
    const successor = dereference(next.document, now.headers?.[name]) as typeof header | undefined;
    if (!successor) return [`${status}: there is no header ${name} any more`];
    const required = header.required && !successor.required ? [`${status}: the header ${name} is not always there any more`] : [];
    return required.concat(schemaBreaks(old, header.schema, next, successor.schema, 'response', `${status} header ${name}`));
  });
}
