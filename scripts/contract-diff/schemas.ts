/**
 * Whether one JSON Schema includes everything that another describes. It compares the schemas keyword by keyword. When in doubt it reports
 * a difference: two patterns that are written differently count as different, except for the two ways to write any character but a control
 * character.
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
 * `request`: callers still send what the old schema accepted. `response`: callers still read what the old schema promised. The contract
 * announces further members and enum values as additive, so callers expect them.
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

/** The breaks for a caller of the old schema, each with its place; empty when there are none. */
export function breaksInSchema(old: Side, now: Side, direction: Direction, at: string, seen = new Set<string>()): string[] {
  const [before, after] = [flatten(old), flatten(now)];
  const key = JSON.stringify([before, after]);
  // A recursive schema has already been compared on this path.
  if (seen.has(key)) return [];
  seen.add(key);
  const inner = (from: unknown, to: unknown, place: string) =>
    breaksInSchema({ ...old, schema: from }, { ...now, schema: to }, direction, place, seen);
  // `wide` must include everything that `narrow` describes.
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
    if (wide[keyword] !== undefined && comparable(wide[keyword]) !== comparable(narrow[keyword]))
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

/** Unicode guarantees that the category Cc never changes: it is these two ranges. */
const comparable = (value: unknown) => JSON.stringify(value)?.replaceAll(String.raw`\\P{Cc}`, String.raw`[^\\x00-\\x1F\\x7F-\\x9F]`);

/** For `anyOf` and `oneOf`: each alternative of the narrow schema must be one of the wide one. */
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

/** The schema with its reference resolved and its `allOf` merged. */
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

/** The target of a `#/…` reference, or the value itself. Throws on a reference without a target. */
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
