/** TypeScript of the schemas of entity types, as `/openapi.json?type=…` has them. */

export type PrintedSchema = { readonly [keyword: string]: unknown } | boolean;

/** The part of the document that types are made of. */
export interface TypedDocument {
  tags: readonly { name: string; 'x-entity-type'?: string }[];
  components: { schemas: Readonly<Record<string, PrintedSchema>> };
}

const prefix = '#/components/schemas/';

/**
 * A module with an interface or a type for the fields of each type, and for what its schema refers to. Undefined for a document without types whose
 * fields the caller may see.
 */
export function printTypes({ tags, components: { schemas } }: TypedDocument): string | undefined {
  const types = tags.flatMap(({ name, 'x-entity-type': entity }) =>
    entity !== undefined && schemas[name] !== undefined ? [{ name, entity }] : [],
  );
  if (types.length === 0) return undefined;
  const names = new Set<string>();
  // New entities have a schema of their own if the caller may read and write different fields.
  const waiting = types.flatMap(({ name }) => (schemas[`${name}New`] === undefined ? [name] : [name, `${name}New`]));
  for (const name of waiting) {
    if (names.has(name)) continue;
    names.add(name);
    waiting.push(...referencesIn(schemas[name]));
  }
  const main = new Set(types.map(({ name }) => name));
  const declarations = [...names].map((name) => declaration(name, schemas[name] ?? true) + (main.has(name) ? queryTypes(name) : ''));
  const entities = types.map(({ name, entity }) => `  ${memberName(entity)}: ${name};\n`);
  return [
    '// Written by `entity-service-client types`. Do not edit.',
    "import type { EntityFilter, EntitySort } from 'entity-service-client';\n",
    ...declarations,
    `/** The fields of entities by their name. */\nexport interface EntityFields {\n${entities.join('')}}\n`,
  ].join('\n');
}

function declaration(name: string, schema: PrintedSchema): string {
  const text = typeOf(schema, '');
  return (
    comment(schema, '', name) +
    (text.startsWith('{') && text.endsWith('}') && isPlainObject(schema)
      ? `export interface ${name} ${text}\n`
      : `export type ${name} = ${text};\n`)
  );
}

const queryTypes = (name: string) =>
  `\nexport type ${name}Filter = EntityFilter<${name}>;\nexport type ${name}Sort = EntitySort<${name}>;\n`;

/** Whether the schema is printed as one object type. */
function isPlainObject(schema: PrintedSchema): boolean {
  return typeof schema === 'object' && typesIn(schema).join() === 'object' && !compositions.some((keyword) => keyword in schema);
}

const compositions = ['$ref', 'const', 'enum', 'allOf', 'anyOf', 'oneOf'];

/** The type of a schema; `indent` precedes the lines of its members. */
function typeOf(schema: PrintedSchema, indent: string): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const { $ref, const: value, enum: values, allOf, anyOf, oneOf, not } = schema;
  if (not !== undefined && typeof not === 'object' && not !== null && Object.keys(not).length === 0) return 'never';
  const list = Array.isArray(values) ? (values as unknown[]) : 'const' in schema ? [value] : undefined;
  if (list) return union(list.map((each) => (typeof each === 'object' && each !== null ? 'unknown' : JSON.stringify(each))));
  const parts = [
    ...(typeof $ref === 'string' ? [$ref.replace(prefix, '')] : []),
    ...listOf(allOf).map((part) => typeOf(part, indent)),
    ...[anyOf, oneOf]
      .filter((choices) => Array.isArray(choices))
      .map((choices) => union(listOf(choices).map((choice) => typeOf(choice, indent)))),
  ];
  const own = 'type' in schema || 'properties' in schema ? union(typesIn(schema).map((type) => ofType(type, schema, indent))) : 'unknown';
  const useful = [...(parts.length > 0 && own === '{ [name: string]: unknown }' ? [] : [own]), ...parts].filter(
    (part) => part !== 'unknown',
  );
  return useful.length === 0 ? 'unknown' : useful.length === 1 ? (useful[0] ?? 'unknown') : useful.map(inParentheses).join(' & ');
}

function typesIn({ type, properties }: { readonly [keyword: string]: unknown }): string[] {
  if (type !== undefined) return [type].flat().map(String);
  return properties === undefined ? [] : ['object'];
}

function ofType(type: string, schema: { readonly [keyword: string]: unknown }, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayType(schema, indent);
    default:
      return objectType(schema, indent);
  }
}

function arrayType({ items = true, prefixItems }: { readonly [keyword: string]: unknown }, indent: string): string {
  const item = typeOf(items as PrintedSchema, indent);
  if (!Array.isArray(prefixItems)) return `${inParentheses(item)}[]`;
  const first = listOf(prefixItems).map((each) => typeOf(each, indent));
  return `[${[...first, ...(item === 'never' ? [] : [`...${inParentheses(item)}[]`])].join(', ')}]`;
}

/** Members that the schema does not list are left out, unless it lists none. */
function objectType(
  { properties = {}, required, additionalProperties = true }: { readonly [keyword: string]: unknown },
  indent: string,
): string {
  const listed = new Map(Object.entries(properties as Record<string, PrintedSchema>));
  const needed = new Set(Array.isArray(required) ? (required as string[]) : []);
  for (const name of needed) if (!listed.has(name)) listed.set(name, true);
  if (listed.size === 0) {
    const others = typeOf(additionalProperties as PrintedSchema, indent);
    return others === 'never' ? '{}' : `{ [name: string]: ${others} }`;
  }
  const inner = `${indent}  `;
  const members = [...listed].map(
    ([name, schema]) =>
      `${comment(schema, inner, name)}${inner}${memberName(name)}${needed.has(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`,
  );
  return `{\n${members.join('')}${indent}}`;
}

function comment(schema: PrintedSchema, indent: string, name: string): string {
  const text = typeof schema === 'object' ? textsOf(schema, name) : '';
  if (text === '') return '';
  const lines = text.replaceAll('*/', '*\\/').split(/\r\n|[\n\r\u2028\u2029]/);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** The title unless it is the name, the description, and what the values are called. */
function textsOf({ title, description, 'x-labels': labels }: { readonly [keyword: string]: unknown }, name: string): string {
  const values =
    typeof labels === 'object' && labels !== null ? Object.entries(labels).map(([value, label]) => `${value}: ${String(label)}`) : [];
  return [title === name ? undefined : title, description, ...values]
    .filter((text) => typeof text === 'string')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n');
}

const memberName = (name: string) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : JSON.stringify(name));
const listOf = (value: unknown): PrintedSchema[] => (Array.isArray(value) ? (value as PrintedSchema[]) : []);
function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 0 || distinct.includes('unknown')) return 'unknown';
  return distinct.length === 1 ? String(distinct[0]) : distinct.map(inParentheses).join(' | ');
}

/** Around what would be read in another way beside `|`, `&` and `[]`. */
const inParentheses = (type: string) => (/ [|&] /.test(type) && !/^\{[^]*\}$/.test(type) ? `(${type})` : type);

/** The components that the schema refers to. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([keyword, member]) =>
    keyword === '$ref' && typeof member === 'string' ? [member.replace(prefix, '')] : referencesIn(member),
  );
}
