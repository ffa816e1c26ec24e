/**
 * Whether everything that one JSON Schema describes is also described by another. It compares what the schemas say, keyword by keyword, and
 * rather reports a difference too many: a pattern that is written differently counts as another one.
 */

/** A parsed OpenAPI document, for following references. */
export type Document = Record<string, unknown>;

interface Schema extends Record<string, unknown> {
  type?: string | string[];
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, unknown>;
  additionalProperties?: unknown;
  items?: unknown;
  anyOf?: unknown[];
  oneOf?: unknown[];
  allOf?: unknown[];
}

/** A schema and the document that its references point into. */
export interface Side {
  document: Document;
  schema: unknown;
}

/**
 * `request`: callers go on sending what the old schema took. `response`: they go on reading what it promised; further members and further
 * values of an enum are announced as additive, so clients expect them.
 */
export type Direction = 'request' | 'response';

const bounds = [
  ['minLength', 'maxLength'],
  ['minimum', 'maximum'],
  ['minItems', 'maxItems'],
  ['exclusiveMinimum', 'exclusiveMaximum'],
  ['minProperties', 'maxProperties'],
] as const;
const compared = ['pattern', 'format', 'const', 'multipleOf', 'not'];

/** What a caller of the old schema would run into with the new one, each with the place; empty when nothing. */
export function breaksInSchema(old: Side, now: Side, direction: Direction, at: string, seen = new Set<string>()): string[] {
  const [before, after] = [flatten(old), flatten(now)];
  const key = JSON.stringify([before, after]);
  // A schema that contains itself has been compared on the way here.
  if (seen.has(key)) return [];
  seen.add(key);
  const inner = (from: unknown, to: unknown, place: string) =>
    breaksInSchema({ ...old, schema: from }, { ...now, schema: to }, direction, place, seen);
  // Whatever `narrow` describes must be described by `wide`.
  const [narrow, wide] = direction === 'request' ? [before, after] : [after, before];
  const says = (what: string) => `${at}: ${what}`;
  const found: string[] = [];

  const strange = typesOf(narrow).filter((type) => !typesOf(wide).includes(type));
  if (strange.length > 0)
    found.push(says(direction === 'request' ? `type ${strange.join(', ')} is not taken any more` : `may be ${strange.join(', ')} now`));
  if (wide.enum && !narrow.enum)
    found.push(says(direction === 'request' ? 'is limited to an enum' : 'is not limited to its enum any more'));
  const values = (wide.enum && narrow.enum?.filter((value) => !wide.enum?.includes(value))) ?? [];
  if (values.length > 0 && direction === 'request') found.push(says(`value ${values.join(', ')} is not taken any more`));
  for (const keyword of compared) {
    if (wide[keyword] !== undefined && JSON.stringify(wide[keyword]) !== JSON.stringify(narrow[keyword]))
      found.push(says(`${keyword} was ${show(before[keyword])}, is ${show(after[keyword])}`));
  }
  for (const [least, most] of bounds) {
    if (Number(wide[least] ?? -Infinity) > Number(narrow[least] ?? -Infinity)) found.push(says(`${least} is ${show(after[least])}`));
    if (Number(wide[most] ?? Infinity) < Number(narrow[most] ?? Infinity)) found.push(says(`${most} is ${show(after[most])}`));
  }
  if (wide['uniqueItems'] === true && narrow['uniqueItems'] !== true) found.push(says('uniqueItems differs'));
  for (const name of wide.required?.filter((member) => !narrow.required?.includes(member)) ?? [])
    found.push(says(direction === 'request' ? `${name} is required now` : `${name} is not always there any more`));
  if (direction === 'request' && after.additionalProperties === false && before.additionalProperties !== false && before.type === 'object')
    found.push(says('takes no further members any more'));
  for (const [name, property] of Object.entries(before.properties ?? {})) {
    const successor = after.properties?.[name];
    if (successor === undefined) found.push(says(`member ${name} is gone`));
    else found.push(...inner(property, successor, `${at}/${name}`));
  }
  if (before.items !== undefined && after.items !== undefined) found.push(...inner(before.items, after.items, `${at}/items`));
  return [...found, ...breaksInAlternatives(before, after, direction, at, inner)];
}

/** Of `anyOf` and `oneOf`: each alternative that may come must still be one of those expected. */
function breaksInAlternatives(
  before: Schema,
  after: Schema,
  direction: Direction,
  at: string,
  inner: (from: unknown, to: unknown, place: string) => string[],
): string[] {
  const [olds, news] = [alternativesOf(before), alternativesOf(after)];
  if (olds.length === 1 && news.length === 1) return [];
  const [narrow, wide] = direction === 'request' ? [olds, news] : [news, olds];
  const fits = (one: unknown, other: unknown) => (direction === 'request' ? inner(one, other, at) : inner(other, one, at)).length === 0;
  const lost = narrow.filter((one) => !wide.some((other) => fits(one, other)));
  return lost.length > 0 ? [`${at}: ${lost.length} of the alternatives ${direction === 'request' ? 'is gone' : 'is new'}`] : [];
}

const alternativesOf = (schema: Schema): unknown[] => schema.anyOf ?? schema.oneOf ?? [{ ...schema, anyOf: undefined, oneOf: undefined }];

const everyType = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

function typesOf({ type, enum: values, anyOf, oneOf }: Schema): string[] {
  if (anyOf ?? oneOf) return [];
  if (type === undefined && values) return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  const types = type === undefined ? everyType : [type].flat();
  return types.includes('number') ? [...types, 'integer'] : types;
}

/** The schema with its reference followed and its `allOf` made one. */
function flatten({ document, schema }: Side): Schema {
  const { allOf = [], ...own } = dereference(document, schema) as Schema;
  return allOf.reduce<Schema>((sum, part) => merge(sum, flatten({ document, schema: part })), own);
}

function merge(one: Schema, other: Schema): Schema {
  const properties = { ...one.properties };
  for (const [name, property] of Object.entries(other.properties ?? {}))
    properties[name] = name in properties ? { allOf: [properties[name], property] } : property;
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  return { ...one, ...other, ...(Object.keys(properties).length > 0 && { properties }), ...(required.length > 0 && { required }) };
}

/** What `#/…` points to, or the value itself. Throws on a reference that leads nowhere. */
export function dereference(document: Document, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
  const parts = String(value.$ref).slice(2).split('/');
  const found = parts.reduce<unknown>(
    (node, part) => (node as Document | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  if (found === undefined) throw new Error(`nothing at ${String(value.$ref)}`);
  return dereference(document, found);
}

const show = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));
