/**
 * The differences between two documents of a type, and whether each can make an entity unfit that fitted before. When in doubt it can, and
 * the entities are checked.
 */
import { isDeepStrictEqual } from 'node:util';
import { pointerTo } from '../problems/pointer.ts';
import { isSchemaObject, targetOf, type Schema } from './subschemas.ts';

export interface Difference {
  /** Into the new document, or where that has nothing, into the old one. */
  pointer: string;
  /** `wider`: accepts all that was accepted. `note`: concerns no validation. */
  kind: 'narrower' | 'wider' | 'note';
}

/** Keywords that change no verdict. */
const notes = new Set([
  '$schema',
  '$comment',
  'title',
  'description',
  'examples',
  'deprecated',
  'readOnly',
  'example',
  'discriminator',
  'xml',
  'externalDocs',
]);
/** Keywords whose definitions count where `$ref` applies them. */
const definitions = new Set(['$defs', 'definitions']);
const least = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const most = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);
/** Keywords that only refuse: without them more is accepted. */
const refusing = new Set([
  ...least,
  ...most,
  'type',
  'enum',
  'const',
  'required',
  'pattern',
  'format',
  'multipleOf',
  'not',
  'uniqueItems',
  'propertyNames',
  'dependentRequired',
  'items',
]);

/** Every difference, in the order of the keywords. None means that both documents say the same. */
export function differencesOf(old: Schema, now: Schema): Difference[] {
  return new Comparison(old, now).run();
}

class Comparison {
  readonly #old: Schema;
  readonly #now: Schema;
  readonly #found: Difference[] = [];
  /** Pairs of references that are being compared, since references may be recursive. */
  readonly #followed = new Set<string>();

  constructor(old: Schema, now: Schema) {
    this.#old = old;
    this.#now = now;
  }

  run(): Difference[] {
    if (isDeepStrictEqual(this.#old, this.#now)) return [];
    this.#compare(this.#old, this.#now, []);
    const found = this.#found;
    if (found.length === 0) found.push({ pointer: '/$defs', kind: refersOf(this.#now) ? 'narrower' : 'note' });
    return [...new Map(found.map((each) => [`${each.pointer} ${each.kind}`, each])).values()];
  }

  #add(path: readonly string[], kind: Difference['kind']): void {
    this.#found.push({ pointer: pointerTo(path), kind });
  }

  #compare(old: unknown, now: unknown, path: string[]): void {
    if (isDeepStrictEqual(old, now) && !refersOf(now)) return;
    if (!isSchemaObject(old) || !isSchemaObject(now)) {
      if (!isDeepStrictEqual(old, now)) this.#add(path, now === true || isEmpty(now) || old === false ? 'wider' : 'narrower');
      return;
    }
    // Whether a member or item is evaluated depends on all keywords around it.
    const dependsOnAll = 'unevaluatedProperties' in { ...old, ...now } || 'unevaluatedItems' in { ...old, ...now };
    for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (definitions.has(keyword)) continue;
      const place = [...path, keyword];
      if (notes.has(keyword) || keyword.startsWith('x-')) {
        if (!isDeepStrictEqual(old[keyword], now[keyword])) this.#add(place, 'note');
      } else if (dependsOnAll || !this.#compareKnown(keyword, old, now, place)) this.#compareWhole(keyword, old, now, place);
    }
  }

  /** Compares a keyword of which it is known what it does; false for any other. */
  #compareKnown(keyword: string, old: Schema, now: Schema, path: string[]): boolean {
    const [before, after] = [old[keyword], now[keyword]];
    if (keyword === 'properties') this.#compareProperties(old, now, path);
    else if (keyword === '$ref' && typeof before === 'string' && typeof after === 'string') this.#compareReferences(before, after, path);
    else if (keyword === 'items' && !('prefixItems' in { ...old, ...now }) && before !== undefined && after !== undefined)
      this.#compare(before, after, path);
    else if (isDeepStrictEqual(before, after) && !refersOf({ [keyword]: after })) return true;
    else if (keyword === 'additionalProperties')
      this.#add(path, isOpen(now) && !('patternProperties' in { ...old, ...now }) ? 'wider' : 'narrower');
    else if (keyword === 'items' && 'prefixItems' in { ...old, ...now }) return false;
    else if (refusing.has(keyword) && after === undefined) this.#add(path, 'wider');
    else if (least.has(keyword) && before !== undefined) this.#add(path, Number(after) <= Number(before) ? 'wider' : 'narrower');
    else if (most.has(keyword) && before !== undefined) this.#add(path, Number(after) >= Number(before) ? 'wider' : 'narrower');
    else if (keyword === 'required') this.#add(path, includesAll(before, after) ? 'wider' : 'narrower');
    else if (keyword === 'enum' && before !== undefined) this.#add(path, includesAll(after, before) ? 'wider' : 'narrower');
    else if (keyword === 'type' && before !== undefined) this.#add(path, includesAll(widened(after), before) ? 'wider' : 'narrower');
    else return false;
    return true;
  }

  /** A keyword that is compared as a whole. With references, what these apply may have changed, although the keyword has not. */
  #compareWhole(keyword: string, old: Schema, now: Schema, path: string[]): void {
    if (!isDeepStrictEqual(old[keyword], now[keyword]) || refersOf({ [keyword]: now[keyword] })) this.#add(path, 'narrower');
  }

  #compareProperties(old: Schema, now: Schema, path: string[]): void {
    const [before, after] = [membersOf(old['properties']), membersOf(now['properties'])];
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const place = [...path, name];
      const [from, to] = [own(before, name), own(after, name)];
      if (from !== undefined && to !== undefined) this.#compare(from, to, place);
      // A member that was refused is accepted now. One that could be anything may not fit.
      else if (from === undefined)
        this.#add(place, old['additionalProperties'] === false && !('patternProperties' in old) ? 'wider' : 'narrower');
      else this.#add(place, isOpen(now) && !('patternProperties' in now) ? 'wider' : 'narrower');
    }
  }

  #compareReferences(before: string, after: string, path: string[]): void {
    const pair = `${before} ${after}`;
    if (this.#followed.has(pair)) return;
    this.#followed.add(pair);
    const targets = [targetOf(this.#old, before), targetOf(this.#now, after)];
    // An anchor, which may be anywhere.
    if (targets.includes(undefined)) return this.#add(path, 'narrower');
    const target = /^#\/(.*)$/.exec(after)?.[1]?.split('/');
    this.#compare(...(targets as [unknown, unknown]), target ?? path);
  }
}

const membersOf = (value: unknown): Schema => (isSchemaObject(value) ? value : {});
const own = (members: Schema, name: string): unknown => (Object.hasOwn(members, name) ? members[name] : undefined);
const isEmpty = (value: unknown): boolean => isSchemaObject(value) && Object.keys(value).length === 0;
const isOpen = ({ additionalProperties = true }: Schema): boolean => additionalProperties === true || isEmpty(additionalProperties);
const refersOf = (value: unknown): boolean => value !== undefined && /"\$(?:ref|dynamicRef|recursiveRef)":/.test(JSON.stringify(value));
const widened = (types: unknown): unknown => ([types].flat().includes('number') ? [types, 'integer'].flat() : types);

/** Whether each value of the second list, or the one value, is in the first. */
function includesAll(wide: unknown, narrow: unknown): boolean {
  const values = [wide].flat();
  return [narrow].flat().every((value) => value === undefined || values.some((each) => isDeepStrictEqual(each, value)));
}
