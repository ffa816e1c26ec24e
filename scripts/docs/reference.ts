/** The contract as pages: what holds for all operations, a page for each tag, and the schemas. */
import { operationsOf, type ContractDocument } from '../../src/contract/contract.ts';
import { code, escapeHtml, heading, Slugs } from './html.ts';
import { dataCells, renderMarkdown, table } from './markdown.ts';
import type { Page } from './navigation.ts';
import { methodLabel, operationSection, toldOf } from './operation.ts';
import { body, typeOf, type Describe, type Schema } from './schema.ts';

interface SecurityScheme {
  type: string;
  in?: string;
  name?: string;
  description?: string;
  openIdConnectUrl?: string;
  flows?: Record<string, Record<string, unknown> & { scopes: Record<string, string> }>;
}

interface Tag {
  name: string;
  description?: string;
}

/** The page of an operation's tag. */
export function pageOfTag(tag: string): string {
  return `api-${tag.toLowerCase().replaceAll(' ', '-')}.html`;
}

export function referencePages(document: ContractDocument): Page[] {
  const locate = (target: string): string => {
    throw new Error(`openapi.yaml: a link to ${target}, which is nowhere but here`);
  };
  const describe: Describe = (text) => renderMarkdown(text, { slugs: new Slugs(), locate });
  const operations = operationsOf(document);
  const tags = document.tags as Tag[];
  const tagPages = tags.map(({ name, description = '' }): Page => {
    const own = operations.filter(({ tag }) => tag === name).map((operation) => operationSection(document, operation, describe));
    return { file: pageOfTag(name), title: name, body: `${heading(1, 'top', escapeHtml(name))}${describe(description)}${own.join('')}` };
  });
  const schemas = Object.entries(document.components['schemas'] as Record<string, Schema>).map(([name, schema]) => {
    return `${heading(2, name, name)}<p class="type">${typeOf(schema)}</p>\n${body(schema, describe)}`;
  });
  return [
    { file: 'api.html', title: 'Overview', body: overview(document, describe) },
    ...tagPages,
    { file: 'schemas.html', title: 'Schemas', body: `${heading(1, 'top', 'Schemas')}<p>What bodies are made of.</p>\n${schemas.join('')}` },
  ];
}

function overview(document: ContractDocument, describe: Describe): string {
  const { version, description = '' } = document.info as { version: string; description?: string };
  const columns = ['method', 'path', 'operation'];
  const rows = operationsOf(document).map((operation) => {
    const { operationId, method, path, tag } = operation;
    const { summary = operationId } = toldOf(document, operation);
    const link = `<a href="${pageOfTag(tag)}#${operationId}">${escapeHtml(summary)}</a>`;
    return `<tr>${dataCells(columns, [methodLabel(method), code(path), link])}</tr>\n`;
  });
  const schemes = Object.entries(document.components['securitySchemes'] as Record<string, SecurityScheme>);
  return [
    heading(1, 'top', 'API'),
    `<p>Version ${escapeHtml(version)} of <a href="openapi.yaml">openapi.yaml</a>, which is the source of these pages.</p>\n`,
    describe(description),
    heading(2, 'operations', 'Operations'),
    table(columns, rows.join('')),
    heading(2, 'credentials', 'Credentials'),
    ...schemes.map(([name, scheme]) => schemeSection(name, scheme, describe)),
  ].join('');
}

function schemeSection(name: string, scheme: SecurityScheme, describe: Describe): string {
  const { type, in: place, name: carrier, description = '', openIdConnectUrl, flows = {} } = scheme;
  const carried = carrier === undefined ? '' : `: ${code(carrier)}, in ${place}`;
  const discovery = openIdConnectUrl === undefined ? '' : `<p>Discovery: ${code(openIdConnectUrl)}</p>\n`;
  const shown = Object.entries(flows).map(([flow, { scopes, ...addresses }]) => {
    const where = Object.entries(addresses).map(([key, value]) => `${key} ${code(String(value))}`);
    const items = Object.entries(scopes).map(([scope, meaning]) => `<li>${code(scope)}: ${escapeHtml(meaning)}</li>\n`);
    return `<p>${escapeHtml(flow)}: ${where.join(', ')}</p>\n<ul>\n${items.join('')}</ul>\n`;
  });
  return `${heading(3, name, name)}<p class="type">${type}${carried}</p>\n${describe(description)}${discovery}${shown.join('')}`;
}
