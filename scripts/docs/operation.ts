/** One operation of the contract: who may call it, what it takes, and every status and code it answers with. */
import { STATUS_CODES } from 'node:http';
import { isOpen, resolve, type ContractDocument, type Operation, type ResponseObject } from '../../src/contract/contract.ts';
import { showExamples, type Examples } from './example.ts';
import { code, escapeHtml, heading } from './html.ts';
import { body, entry, list, typeOf, type Describe, type Schema } from './schema.ts';

/** What the contract says for people, and the binder has no use for. */
export interface Told {
  summary?: string;
  description?: string;
}

type Media = Record<string, { schema?: Schema; examples?: Examples }>;

export function toldOf(document: ContractDocument, { path, method }: Operation): Told {
  return document.paths[path]?.[method] as Told;
}

/** The problem codes that an answer can have, by its schema. */
export function codesOf(response: ResponseObject): string[] {
  const schemas = Object.values((response.content ?? {}) as Media).flatMap(({ schema }) => schema?.allOf ?? []);
  return schemas.flatMap(({ properties }) => (properties?.['code']?.enum as string[] | undefined) ?? []);
}

export function operationSection(document: ContractDocument, operation: Operation, describe: Describe): string {
  const { operationId, method, path } = operation;
  const { summary, description } = toldOf(document, operation);
  const part = (name: string, content: string) =>
    content === '' ? '' : heading(3, `${operationId}-${name.toLowerCase().replaceAll(' ', '-')}`, name) + content;
  return [
    heading(2, operationId, escapeHtml(summary ?? operationId)),
    `<p class="route">${methodLabel(method)} ${code(path)} <span class="id">${operationId}</span></p>\n`,
    describe(description ?? ''),
    part('Who may call', callers(operation)),
    part('Parameters', parameters(operation, describe)),
    part('Request body', requestBody(document, operation, describe)),
    part(
      'Answers',
      Object.entries(operation.responses)
        .map(([status, response]) => answer(document, status, response, describe))
        .join(''),
    ),
  ].join('');
}

/** The method in its colour. */
export function methodLabel(method: string): string {
  return `<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function callers(operation: Operation): string {
  const schemes = operation.security.flatMap((alternative) => Object.entries(alternative));
  if (schemes.length === 0) return '<p>Anyone.</p>\n';
  const names = schemes.map(([name, scopes]) => {
    const narrowed = scopes.length === 0 ? '' : ` with ${scopes.map(code).join(', ')}`;
    return `<li><a href="api.html#${name}">${name}</a>${narrowed}</li>\n`;
  });
  return `<p>${isOpen(operation) ? 'Anyone; these are looked at:' : 'Callers with one of these:'}</p>\n<ul class="callers">\n${names.join('')}</ul>\n`;
}

function parameters({ parameters, ignoresUnknownParameters }: Operation, describe: Describe): string {
  const entries = parameters.map(({ name, in: place, required = false, schema, example, ...told }) => {
    const { description = '' } = told as Told;
    const sample =
      example === undefined
        ? ''
        : `<p class="limits">for example ${code(typeof example === 'string' ? example : JSON.stringify(example))}</p>\n`;
    const content = describe(description) + body(schema, describe) + sample;
    return entry({ name, type: `${typeOf(schema)}, in ${place}`, required, content });
  });
  const others = ignoresUnknownParameters ? '<p>Other query parameters are ignored.</p>\n' : '';
  return `${entries.length === 0 ? '' : list(entries)}${others}`;
}

function requestBody(document: ContractDocument, { requestBody }: Operation, describe: Describe): string {
  if (!requestBody) return '';
  const { description = '' } = requestBody as Told;
  const needed = requestBody.required ? ' <span class="required">required</span>' : '';
  return describe(description) + media(document, requestBody.content, describe, { open: true, needed });
}

/** Each media type with its schema, the members of that unless it is a problem's, and its examples. */
function media(document: ContractDocument, content: Media, describe: Describe, { open = false, needed = '' } = {}): string {
  return Object.entries(content)
    .map(([type, { schema, examples }]) => {
      const shown = showExamples(document, type, examples, open);
      if (schema === undefined) return `<p class="media">${code(type)}${needed}</p>\n${shown}`;
      const inner = schema.allOf ? '' : body(resolve(document, schema), describe);
      const members = inner === '' ? '' : `<details${open ? ' open' : ''}><summary>Members</summary>\n${inner}</details>\n`;
      return `<p class="media">${code(type)}: ${typeOf(schema)}${needed}</p>\n${members}${shown}`;
    })
    .join('');
}

/** Reason phrases of RFC 9110 that Node has by their older names. */
const phrases: Record<string, string | undefined> = { ...STATUS_CODES, 413: 'Content Too Large', 422: 'Unprocessable Content' };

function answer(document: ContractDocument, status: string, response: ResponseObject, describe: Describe): string {
  const codes = codesOf(response).map((name) => `<a href="errors.html#${name}">${code(name)}</a>`);
  const headers = Object.entries(response.headers ?? {}).map(([name, header]) => {
    const { schema, required = false, description = '' } = resolve(document, header) as { schema: Schema; required?: boolean } & Told;
    return entry({ name, type: typeOf(schema), required, content: describe(description) + body(schema, describe) });
  });
  const names = Object.keys(response.headers ?? {}).join(', ');
  return `<div class="answer ${/^[45]/.test(status) ? 'refused' : 'done'}">
<p class="status"><strong>${status}</strong> ${escapeHtml(phrases[status] ?? '')}</p>
<div>
${[
  describe(response.description),
  codes.length === 0 ? '' : `<p class="codes">${codes.join(', ')}</p>\n`,
  headers.length === 0 ? '' : `<details><summary>Headers: ${names}</summary>\n${list(headers)}</details>\n`,
  media(document, response.content ?? {}, describe),
].join('')}</div>
</div>
`;
}
