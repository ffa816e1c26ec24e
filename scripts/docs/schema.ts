/** Schemas of the contract for people. A keyword that is not known here fails the build, so that nothing is left out unseen. */
import { code, escapeHtml } from './html.ts';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  description?: string;
  examples?: unknown[];
}

const known = new Set(
  `$ref type format enum pattern minLength maxLength minimum maximum minItems maxItems uniqueItems properties required additionalProperties
  items anyOf allOf description examples`.split(/\s+/),
);

export type Describe = (markdown: string) => string;

/** What a value is, in a few words: `array of Role`, `string (uuid) or null`. HTML, with links to the schemas that have a name. */
export function typeOf(schema: Schema): string {
  for (const keyword of Object.keys(schema)) if (!known.has(keyword)) throw new Error(`schema keyword "${keyword}" is not shown`);
  if (schema.$ref !== undefined) return referenceTo(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.allOf) return [...new Set(schema.allOf.map(typeOf))].filter((type) => type !== 'object').join(' and ');
  const types = [schema.type ?? (schema.enum ? [] : 'any')].flat();
  const format = schema.format === undefined ? '' : ` (${escapeHtml(schema.format)})`;
  return types
    .map((type) => (type === 'array' && schema.items ? `array of ${typeOf(schema.items)}` : `${type}${type === 'null' ? '' : format}`))
    .join(' or ');
}

/** The name of a schema, as a link to it. */
function referenceTo(reference: string): string {
  const name = reference.replace('#/components/schemas/', '');
  return `<a href="schemas.html#${name}">${name}</a>`;
}

/** The limits of a value, an HTML text each. */
function limitsOf(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const range = (least: number | undefined, most: number | undefined, unit: string): string[] => {
    if (least === undefined && most === undefined) return [];
    if (most === undefined) return [`at least ${least}${unit}`];
    return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
  };
  return [
    ...(schema.enum
      ? [
          schema.enum
            .map((value) => code(String(value)))
            .join(', ')
            .replace(/^(?=.*,)/, 'one of '),
        ]
      : []),
    ...range(minLength, maxLength, ' characters'),
    ...range(minimum, maximum, ''),
    ...range(minItems, maxItems, ' items'),
    ...(schema.uniqueItems ? ['no two alike'] : []),
    ...(schema.pattern === undefined ? [] : [`pattern ${code(schema.pattern)}`]),
    ...(schema.type === 'object' && schema.additionalProperties === false ? ['no other members'] : []),
    ...(schema.examples ? [`for example ${schema.examples.map((value) => code(String(value))).join(', ')}`] : []),
  ];
}

/** Limits of a value and of what it is made of, as a paragraph; empty when there are none. */
export function limits(schema: Schema): string {
  const parts = [schema, ...(schema.items?.$ref ? [] : [schema.items ?? {}]), ...(schema.anyOf ?? []).filter(({ $ref }) => !$ref)];
  const texts = [...new Set(parts.flatMap(limitsOf))];
  return texts.length === 0 ? '' : `<p class="limits">${texts.join('; ')}</p>\n`;
}

/** Description, limits and members of a schema. */
export function body(schema: Schema, describe: Describe): string {
  return `${schema.description === undefined ? '' : describe(schema.description)}${limits(schema)}${members(schema, describe)}`;
}

/** The members of an object, of the items of an array, or of the alternatives, as a list; empty when there are none. */
function members(schema: Schema, describe: Describe): string {
  const inner = [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const nested = inner.filter(({ $ref }) => $ref === undefined).map((part) => members(part, describe));
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const required = schema.required?.includes(name) === true;
    return entry({ name, type: typeOf(property), required, content: body(property, describe) });
  });
  return `${properties.length === 0 ? '' : list(properties)}${nested.join('')}`;
}

/** Something with a name: a member, a parameter, a header. `type` and `content` are HTML. */
export function entry({ name, type, required, content }: { name: string; type: string; required: boolean; content: string }): string {
  const needed = required ? ' <span class="required">required</span>' : '';
  return `<dt>${code(name)} <span class="type">${type}</span>${needed}</dt>\n<dd>${content}</dd>\n`;
}

export function list(entries: string[]): string {
  return `<dl class="members">\n${entries.join('')}</dl>\n`;
}
