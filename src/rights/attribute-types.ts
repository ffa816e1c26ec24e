/**
 * The types of attributes and claims: values of a user, a profile or an identity that rules compare with fields. A declaration is a JSON Schema of a few
 * keywords (docs/admin.md). A value that is not of its type counts as missing.
 */
import { readValue } from '../filter/values.ts';
import { listValues } from '../problems/expected.ts';
import type { Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import type { AttributeOwner } from './vocabulary.ts';

/** How single values compare, by the names that fields of filters have. */
type AttributeScalar = 'string' | 'number' | 'boolean' | 'enum' | 'int64' | 'decimal' | 'date' | 'date-time';

export interface AttributeType {
  scalar: AttributeScalar;
  /** Whether a value is a list of such values. */
  isList: boolean;
  /** The texts of an `enum`. */
  texts: readonly string[] | undefined;
  /** The name of the entities whose keys the values are; undefined for others. */
  to: string | undefined;
}

/** Declared types by name. */
export type DeclaredTypes = ReadonlyMap<string, AttributeType>;

type ValueOwner = AttributeOwner | 'claims';

/** The declared types of users, profiles and claims. A claim has the same type at each issuer. */
export type CallerTypes = Readonly<Record<ValueOwner, DeclaredTypes>>;

/** The values of a caller that are set and of their declared types. */
export type CallerValues = Readonly<Record<ValueOwner, Readonly<Record<string, unknown>>>>;

/** The most items of a list, and the most texts of an `enum`. */
export const maximumItems = 100;

const formats = ['int64', 'decimal', 'date', 'date-time'] as const;
const scalarTypes = ['string', 'number', 'boolean'] as const;
/** The form of the names of entities. */
export const entityName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

type TypeMembers = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is TypeMembers => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The type of a declaration, or what is wrong with it; pointers begin at the schema. */
export function readAttributeType(schema: unknown): AttributeType | readonly Fault[] {
  const faults: Fault[] = [];
  const type = isObject(schema) && schema['type'] === 'array' ? readList(schema, faults) : readScalar(schema, [], faults, ', array');
  return type && faults.length === 0 ? type : faults;
}

function readList(schema: TypeMembers, faults: Fault[]): AttributeType | undefined {
  refuseOthers(schema, ['type', 'items'], [], faults);
  if (schema['items'] === undefined) faults.push({ code: 'required', pointer: '/items' });
  const scalar = schema['items'] === undefined ? undefined : readScalar(schema['items'], ['items'], faults);
  return scalar && { ...scalar, isList: true };
}

/** `others` are further names that `type` takes at this place. */
function readScalar(schema: unknown, path: readonly string[], faults: Fault[], others = ''): AttributeType | undefined {
  const at = (...names: string[]) => pointerTo([...path, ...names]);
  if (!isObject(schema)) {
    faults.push({ code: 'invalid-type', pointer: at(), values: { allowed: 'object' } });
    return undefined;
  }
  const { type, format, enum: texts, to } = schema;
  const isKnown = scalarTypes.some((each) => each === type);
  if (type === undefined) faults.push({ code: 'required', pointer: at('type') });
  else if (!isKnown)
    faults.push({ code: 'invalid-value', pointer: at('type'), values: { allowed: `${listValues(scalarTypes)}${others}` } });
  if (!isKnown) return undefined;
  refuseOthers(schema, type === 'string' ? ['type', 'format', 'enum', 'to'] : ['type'], path, faults);
  const scalar = type === 'string' ? formats.find((each) => each === format) : undefined;
  if (type === 'string' && format !== undefined && !scalar)
    faults.push({ code: 'invalid-value', pointer: at('format'), values: { allowed: listValues(formats) } });
  if (format !== undefined && texts !== undefined) faults.push({ code: 'conflicting', pointer: at('enum') });
  if (texts !== undefined && !isTextList(texts)) faults.push({ code: 'invalid-value', pointer: at('enum') });
  if (to !== undefined && scalar !== 'int64') faults.push({ code: 'conflicting', pointer: at('to') });
  else if (to !== undefined && !(typeof to === 'string' && entityName.test(to))) faults.push({ code: 'invalid-value', pointer: at('to') });
  return {
    scalar: scalar ?? (texts === undefined ? (type as 'string' | 'number' | 'boolean') : 'enum'),
    isList: false,
    texts: isTextList(texts) ? texts : undefined,
    to: typeof to === 'string' ? to : undefined,
  };
}

/** At least one text, each once. */
const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= maximumItems &&
  value.every((text) => typeof text === 'string') &&
  new Set(value).size === value.length;

function refuseOthers(schema: TypeMembers, known: readonly string[], path: readonly string[], faults: Fault[]): void {
  for (const name of Object.keys(schema)) if (!known.includes(name)) faults.push({ code: 'unknown', pointer: pointerTo([...path, name]) });
}

/** The keys of entities that a value of the type names. */
export function keysIn({ to }: AttributeType, value: unknown): string[] {
  return to === undefined ? [] : ([value].flat() as string[]);
}

/** The faults that keep a value from being of the type; pointers begin at the value. */
export function faultsOfValue({ scalar, isList, texts }: AttributeType, value: unknown): Fault[] {
  if (!isList) return faultsOfScalar(scalar, texts, value, []);
  if (!Array.isArray(value)) return [{ code: 'invalid-type', pointer: '', values: { allowed: 'array' } }];
  if (value.length > maximumItems) return [{ code: 'too-many-values', pointer: '', values: { limit: maximumItems } }];
  return value.flatMap((item, index) => faultsOfScalar(scalar, texts, item, [String(index)]));
}

function faultsOfScalar(scalar: AttributeScalar, texts: readonly string[] | undefined, value: unknown, path: readonly string[]): Fault[] {
  const read = readValue(scalar, value, { texts });
  return 'code' in read ? [{ ...read, pointer: pointerTo(path) }] : [];
}

/** The values that are of their declared types. `onUnfit` receives the name of each other declared one; null counts as not set. */
export function fittingValues(
  declared: DeclaredTypes,
  stored: Readonly<Record<string, unknown>>,
  onUnfit: (name: string) => void = () => undefined,
): Record<string, unknown> {
  const values: [string, unknown][] = [];
  for (const [name, type] of declared) {
    const value = Object.hasOwn(stored, name) ? (stored[name] ?? undefined) : undefined;
    if (value === undefined) continue;
    if (faultsOfValue(type, value).length === 0) values.push([name, value]);
    else onUnfit(name);
  }
  return Object.fromEntries(values);
}
