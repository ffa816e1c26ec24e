/** Keywords that test arrays and objects. Members of a prototype are no members. */
import type { Keyword, KeywordPlace } from './keyword.ts';
import type { SchemaCheck, ValidationRun } from './run.ts';
import { areDifferent } from './same-json.ts';
import type { JsonSchema } from './types.ts';

type MembersByName = Record<string, unknown>;

/** A keyword that compares a number of items or members with its own. */
function limitOfSize(keyword: string, kind: 'array' | 'object', fits: (size: number, limit: number) => boolean): [string, Keyword] {
  const sizeOf: (value: unknown, run: ValidationRun) => number =
    kind === 'array' ? (value) => (value as unknown[]).length : (value, run) => run.namesOf(value as MembersByName).length;
  const check = (limit: number, { schema }: KeywordPlace): SchemaCheck => {
    return (value, run) => fits(sizeOf(value, run), limit) || run.refuse(keyword, { limit }, schema);
  };
  return [keyword, { kind, check }];
}

/** Items that `maxItems` beside the keyword refuses are not compared. */
function uniqueItemsCheck(areWanted: boolean, { schema }: KeywordPlace): SchemaCheck | undefined {
  const limit = Number(schema['maxItems'] ?? Infinity);
  if (!areWanted) return undefined;
  return (value, run) => {
    const items = value as unknown[];
    return items.length > limit || areDifferent(items) || run.refuse('uniqueItems', {}, schema);
  };
}

function prefixItemsCheck(schemas: unknown[], { inner }: KeywordPlace): SchemaCheck {
  const checks = schemas.map((schema, index) => inner(schema, index));
  return (value, run, seen) => {
    const items = value as unknown[];
    seen?.addItemsBefore(checks.length);
    return run.all(checks.slice(0, items.length), (check, index) => run.checkMember(check, index, items[index]));
  };
}

function itemsCheck(items: unknown, { schema, inner }: KeywordPlace): SchemaCheck {
  const check = inner(items);
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0;
  return (value, run, seen) => {
    seen?.addItemsBefore(Infinity);
    return run.all(value as unknown[], (item, index) => index < first || run.checkMember(check, index, item));
  };
}

function containsCheck(contains: unknown, { schema, inner }: KeywordPlace): SchemaCheck {
  const check = inner(contains);
  const { minContains = 1, maxContains = Infinity } = schema as { minContains?: number; maxContains?: number };
  return (value, run, seen) => {
    let count = 0;
    for (const [index, item] of (value as unknown[]).entries()) {
      if (!run.verdictOf(check, item, undefined)) continue;
      count += 1;
      seen?.addItem(index);
      if (!seen && count > maxContains) break;
      if (!seen && count >= minContains && maxContains === Infinity) break;
    }
    return (count >= minContains && count <= maxContains) || run.refuse('contains', { minContains, maxContains }, schema);
  };
}

function unevaluatedItemsCheck(unevaluated: unknown, { inner }: KeywordPlace): SchemaCheck {
  const check = inner(unevaluated);
  return (value, run, seen) => {
    const fits = run.all(value as unknown[], (item, index) => seen?.hasItem(index) || run.checkMember(check, index, item));
    seen?.addItemsBefore(Infinity);
    return fits;
  };
}

function requiredCheck(names: string[], { schema }: KeywordPlace): SchemaCheck {
  return (value, run) =>
    run.all(names, (name) => Object.hasOwn(value as object, name) || run.refuse('required', { missingProperty: name }, schema));
}

function dependentRequiredCheck(dependents: Record<string, string[]>, { schema }: KeywordPlace): SchemaCheck {
  const all = Object.entries(dependents);
  const has = (value: unknown, name: string) => Object.hasOwn(value as MembersByName, name);
  return (value, run) =>
    run.all(all, ([property, wanted]) => {
      if (!has(value, property)) return true;
      return run.all(wanted, (name) => has(value, name) || run.refuse('dependentRequired', { property, missingProperty: name }, schema));
    });
}

function propertyNamesCheck(names: unknown, { schema, inner }: KeywordPlace): SchemaCheck {
  const check = inner(names);
  return (value, run) =>
    run.all(
      run.namesOf(value as MembersByName),
      (name) => run.verdictOf(check, name, undefined) || run.refuse('propertyNames', { propertyName: name }, schema),
    );
}

function propertiesCheck(properties: JsonSchema, { inner }: KeywordPlace): SchemaCheck {
  const checks = new Map(Object.entries(properties).map(([name, schema]) => [name, inner(schema, name)]));
  return (value, run, seen) =>
    run.all(run.namesOf(value as MembersByName), (name) => {
      const check = checks.get(name);
      if (!check) return true;
      seen?.addName(name);
      return run.checkMember(check, name, (value as MembersByName)[name]);
    });
}

function patternPropertiesCheck(properties: JsonSchema, { inner, pattern }: KeywordPlace): SchemaCheck {
  const checks = Object.entries(properties).flatMap(([text, schema]) => {
    const compiled = pattern(text, text);
    const check = inner(schema, text);
    return compiled ? [{ compiled, check }] : [];
  });
  return (value, run, seen) =>
    run.all(run.namesOf(value as MembersByName), (name) =>
      run.all(checks, ({ compiled, check }) => {
        if (!compiled.test(name)) return true;
        seen?.addName(name);
        return run.checkMember(check, name, (value as MembersByName)[name]);
      }),
    );
}

/** Tests the members that `isOther` selects; a schema `false` refuses their names. */
function otherMembersCheck(keyword: string, param: string, schema: JsonSchema, check: SchemaCheck): MembersCheck {
  const refusesAll = schema[keyword] === false;
  return (value, run, isOther) =>
    run.all(run.namesOf(value), (name) => {
      if (!isOther(name)) return true;
      return refusesAll ? run.refuse(keyword, { [param]: name }, schema) : run.checkMember(check, name, value[name]);
    });
}

type MembersCheck = (value: MembersByName, run: ValidationRun, isOther: (name: string) => boolean) => boolean;

function additionalPropertiesCheck(additional: unknown, { schema, inner, patternsBeside }: KeywordPlace): SchemaCheck {
  const known = new Set(Object.keys(schema['properties'] ?? {}));
  const patterns = patternsBeside();
  const isOther = (name: string) => !known.has(name) && !patterns.some((pattern) => pattern.test(name));
  const check = otherMembersCheck('additionalProperties', 'additionalProperty', schema, inner(additional));
  return (value, run, seen) => {
    seen?.addAllNames();
    return check(value as MembersByName, run, isOther);
  };
}

function unevaluatedPropertiesCheck(unevaluated: unknown, { schema, inner }: KeywordPlace): SchemaCheck {
  const check = otherMembersCheck('unevaluatedProperties', 'unevaluatedProperty', schema, inner(unevaluated));
  return (value, run, seen) => {
    const fits = check(value as MembersByName, run, (name) => seen?.hasName(name) !== true);
    seen?.addAllNames();
    return fits;
  };
}

export const arrayKeywords: readonly [string, Keyword][] = [
  limitOfSize('maxItems', 'array', (size, limit) => size <= limit),
  limitOfSize('minItems', 'array', (size, limit) => size >= limit),
  ['uniqueItems', { kind: 'array', check: uniqueItemsCheck }],
  ['contains', { kind: 'array', check: containsCheck }],
  ['prefixItems', { kind: 'array', check: prefixItemsCheck }],
  ['items', { kind: 'array', check: itemsCheck }],
];

export const objectKeywords: readonly [string, Keyword][] = [
  limitOfSize('maxProperties', 'object', (size, limit) => size <= limit),
  limitOfSize('minProperties', 'object', (size, limit) => size >= limit),
  ['required', { kind: 'object', check: requiredCheck }],
  ['dependentRequired', { kind: 'object', check: dependentRequiredCheck }],
  ['propertyNames', { kind: 'object', check: propertyNamesCheck }],
  ['additionalProperties', { kind: 'object', check: additionalPropertiesCheck }],
  ['properties', { kind: 'object', check: propertiesCheck }],
  ['patternProperties', { kind: 'object', check: patternPropertiesCheck }],
];

/** They come after all other keywords, also those that compose schemas. */
export const unevaluatedKeywords: readonly [string, Keyword][] = [
  ['unevaluatedItems', { kind: 'array', check: unevaluatedItemsCheck }],
  ['unevaluatedProperties', { kind: 'object', check: unevaluatedPropertiesCheck }],
];
