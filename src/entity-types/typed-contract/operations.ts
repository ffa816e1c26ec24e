/** The operations on the entities of one name: those of the contract on any name, with the schemas of its type. */
import { methods, type ContractDocument } from '../../contract/contract.ts';
import type { Action } from '../../rights/vocabulary.ts';
import { isSchemaObject, mapMembers, type Schema } from '../subschemas.ts';
import { entityOperations } from './entity-operations.ts';
import { referTo } from './tests.ts';

const entityPath = '/rest/entity/{name}';
/** The name is in the path. A projection and an old version do not have the schema of the type. */
const omittedParameters = new Set(['name', 'fields', 'version']);

/** Bodies that the service accepts for each type. Tools would otherwise make one of every optional member. */
const exampleBodies = new Map<unknown, unknown>([
  ['queryEntities', { filter: {}, sort: ['-$key'], limit: 20 }],
  ['aggregateEntities', { measures: { entities: { $count: true } } }],
]);

export interface TypedName {
  /** Of the entities. */
  name: string;
  /** Of the schema of their fields. */
  base: string;
  actions: ReadonlySet<Action>;
  /** What the parameter `by` may be: the fields of the first unique rule. Undefined without a rule. */
  by: string | undefined;
  /** Whether new entities have a schema of their own. */
  hasNew: boolean;
}

/** The path items of the entities called `name`, with the operations whose action is in `actions`. */
export function typedPaths(contract: ContractDocument, { name, base, actions, by, hasNew }: TypedName): Record<string, Schema> {
  const paths = Object.entries(contract.paths).flatMap(([path, item]): [string, Schema][] => {
    if (path !== entityPath && !path.startsWith(`${entityPath}/`)) return [];
    const operations = methods.flatMap((method): [string, Schema][] => {
      const operation = item[method];
      const known = operation && Object.hasOwn(entityOperations, operation.operationId);
      if (!known) return [];
      const { verb, action } = entityOperations[operation.operationId as keyof typeof entityOperations];
      if (!actions.has(action)) return [];
      const body = action === 'update' ? `${base}Patch` : action === 'create' && hasNew ? `${base}New` : base;
      const typed = typedOperation(contract, operation as unknown as Schema, { base, body, by });
      const described = {
        operationId: verb + base,
        tags: [base],
        summary: `${String(typed['summary'])} (${name})`,
        description: `\`${operation.operationId}\`, described there, for the entities called ${name}.`,
      };
      return [[method, { ...typed, ...described }]];
    });
    return operations.length === 0 ? [] : [[path.replace('{name}', name), Object.fromEntries(operations)]];
  });
  return Object.fromEntries(paths);
}

function typedOperation(
  contract: ContractDocument,
  operation: Schema,
  { base, body, by }: { base: string; body: string; by: string | undefined },
): Schema {
  const schemas = new Map([
    ['Fields', body],
    ...['Entity', 'Filter'].map((schema): [string, string] => [schema, base + schema]),
    ['FieldsList', `${base}List`],
    ['EntityView', `${base}View`],
    ['EntityPage', `${base}Page`],
    ['EntityQuery', `${base}Query`],
    ['EntityAggregation', `${base}Aggregation`],
  ]);
  const { parameters, requestBody, responses, ...rest } = operation;
  const { Filter: filter, Sort: sort, ...shared } = contract.components['parameters'] ?? {};
  const own = new Map([filter, sort].map((parameter) => [nameOf(parameter), parameter]));
  const typedParameters = (parameters as unknown[]).flatMap((reference) => {
    const parameter = targetIn({ ...shared, Filter: filter, Sort: sort }, reference);
    if (omittedParameters.has(nameOf(parameter)) && (parameter as Schema)['in'] !== 'header') return [];
    if (nameOf(parameter) === 'by') return [{ ...(typed(parameter, schemas) as Schema), ...(by !== undefined && { example: by }) }];
    return [own.has(nameOf(parameter)) ? typedParameter(parameter as Schema, schemas) : reference];
  });
  return {
    ...rest,
    ...(typedParameters.length > 0 && { parameters: typedParameters }),
    ...(requestBody !== undefined && { requestBody: typedBody(requestBody as Schema, schemas, exampleBodies.get(rest['operationId'])) }),
    responses: mapMembers(responses as Schema, (response, status) => (Number(status) < 300 ? typed(response, schemas) : response)),
  };
}

/** A copy that refers to the schemas of the type and has no examples, which are those of another type. */
function typed(value: unknown, schemas: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => typed(each, schemas));
  if (!isSchemaObject(value)) return value;
  const { examples: _examples, example: _example, ...rest } = value;
  const { $ref } = rest;
  const schema = typeof $ref === 'string' ? schemas.get($ref.replace('#/components/schemas/', '')) : undefined;
  return schema === undefined ? mapMembers(rest, (member) => typed(member, schemas)) : { ...rest, ...referTo(schema) };
}

function typedBody(body: Schema, schemas: ReadonlyMap<string, string>, example: unknown): Schema {
  const { content, ...rest } = typed(body, schemas) as { content: Schema };
  return { ...rest, content: mapMembers(content, (media) => (example === undefined ? media : { ...(media as Schema), example })) };
}

/** The sort and the filter of the contract have examples for another type. */
function typedParameter(parameter: Schema, schemas: ReadonlyMap<string, string>): unknown {
  return { ...(typed(parameter, schemas) as Schema), description: `As of \`listEntities\`.` };
}

function targetIn(parameters: Schema, reference: unknown): unknown {
  const $ref = isSchemaObject(reference) ? reference['$ref'] : undefined;
  return typeof $ref === 'string' ? parameters[$ref.replace('#/components/parameters/', '')] : reference;
}

const nameOf = (parameter: unknown) => (isSchemaObject(parameter) ? String(parameter['name']) : '');
