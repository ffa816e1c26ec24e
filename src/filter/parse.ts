/**
 * Reads the filter of a list: the JSON object of docs/filters.md. All its faults are reported, each by its pointer. The value must come from
 * `json/json.ts`, which has refused duplicate members, inexact numbers and the names of prototypes.
 */
import { maximumFaults, type Fault } from '../problems/faults.ts';
import { expectedOneOf } from '../problems/expected.ts';
import { looksLikeName, placeOf, positionsIn } from '../problems/pointer.ts';
import { isEnvelopeName, isOfEnvelope, envelopeTypes, type Field, type FieldType, type FieldTypes } from './fields.ts';
import { foldedOperators, operators, operatorsOf, type Operand } from './operators.ts';
import { all, any, everyEntity, not, type Filter } from './syntax.ts';

export interface FilterLimits {
  /** The most tests: each operator, and each value without one, is a test. */
  tests: number;
  /** The most objects inside each other, the filter itself and nested fields included; an object of operators does not count. */
  depth: number;
  /** The most values of `$in` and `$nin`. */
  inValues: number;
}

/** The limits of a filter in the body of a request, and of one in the URL. */
export const bodyLimits: Readonly<FilterLimits> = { tests: 50, depth: 5, inValues: 1_000 };
export const urlLimits: Readonly<FilterLimits> = { ...bodyLimits, inValues: 200 };

/** The most references in a row that a filter looks through. */
export const maximumMatches = 2;

/** The filter, or the first {@link maximumFaults} of its faults, whose pointers begin at the filter itself. */
export function parseFilter(value: unknown, types: FieldTypes, limits: Readonly<FilterLimits>): { filter: Filter } | { faults: Fault[] } {
  const reader = new FilterReader(value, types, limits);
  const filter = reader.filter(value, []);
  return reader.faults.length > 0 ? { faults: reader.faults.slice(0, maximumFaults) } : { filter };
}

const combinators: ReadonlySet<string> = new Set(['$and', '$or', '$not']);

/** The fault of a combinator inside of a field. */
function misplaced(combinator: string, field: Field): Unplaced {
  if (!field.every(looksLikeName)) return { code: 'unknown-operator' };
  const inside = `${field.map((name) => `{"${name}":`).join('')}…${'}'.repeat(field.length)}`;
  return { code: 'unknown-operator', values: { instead: `{"${combinator}":${combinator === '$not' ? inside : `[${inside}]`}}` } };
}

/** The fault of a folded test without an index, with the entry of `x-index` that would serve it. */
function needsFolding(field: Field): Unplaced {
  if (!field.every(looksLikeName)) return { code: 'needs-index' };
  return { code: 'needs-index', values: { entry: JSON.stringify({ field: field.join('.'), fold: true }) } };
}

type FilterPath = readonly (string | number)[];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

class FilterReader {
  readonly faults: Fault[] = [];
  readonly #positionOf: ReturnType<typeof positionsIn>;
  readonly #limits: Readonly<FilterLimits>;
  /** Of the entities that are tested where the reader is: inside of `$match` those that the reference leads to. */
  #types: FieldTypes;
  #matches = 0;
  #tests = 0;

  constructor(value: unknown, types: FieldTypes, limits: Readonly<FilterLimits>) {
    this.#positionOf = positionsIn(value);
    this.#types = types;
    this.#limits = limits;
  }

  filter(value: unknown, path: FilterPath, depth = 1): Filter {
    if (!isObject(value)) return this.#refuse(path, { code: 'invalid-type', values: { allowed: 'object' } });
    if (depth > this.#limits.depth) return this.#refuse(path, { code: 'invalid-value', values: { maximum: this.#limits.depth } });
    return all(Object.entries(value).map(([name, member]) => this.#member(name, member, [...path, name], depth)));
  }

  #member(name: string, member: unknown, path: FilterPath, depth: number): Filter {
    switch (name) {
      case '$and':
        return all(this.#filters(member, path, depth));
      case '$or':
        return any(this.#filters(member, path, depth));
      case '$not':
        return not(this.filter(member, path, depth + 1));
    }
    if (isEnvelopeName(name)) return this.#test([name], envelopeTypes[name], member, path, depth);
    if (name.startsWith('$')) return this.#refuse(path, { code: 'not-addressable' });
    return this.#field([name], member, path, depth);
  }

  #filters(value: unknown, path: FilterPath, depth: number): Filter[] {
    if (!Array.isArray(value)) return [this.#refuse(path, { code: 'invalid-type', values: { allowed: 'array' } })];
    return value.map((one, index) => this.filter(one, [...path, index], depth + 1));
  }

  #field(field: Field, value: unknown, path: FilterPath, depth: number): Filter {
    const type = this.#types.typeOf(field);
    const nested = this.#nestedName(field);
    if (nested !== undefined) return this.#refuse(path, { code: 'unknown-field', values: { instead: nested } });
    return type === undefined ? this.#refuse(path, { code: 'unknown-field' }) : this.#test(field, type, value, path, depth);
  }

  /** The JSON that addresses a nested field whose names the caller has joined by dots, as a sort has them; undefined for another name. */
  #nestedName(field: Field): string | undefined {
    const names = field.at(-1)?.split('.') ?? [];
    if (names.length === 1 || !names.every(looksLikeName) || this.#types.declares?.(field) !== false) return undefined;
    if (!this.#types.declares([...field.slice(0, -1), ...names])) return undefined;
    return `${names.map((name) => `{"${name}":`).join('')}…${'}'.repeat(names.length)}`;
  }

  /** A value stands for its equality, an object has operators, or the members of the field. */
  #test(field: Field, type: FieldType, value: unknown, path: FilterPath, depth: number): Filter {
    if (!isObject(value)) return this.#operator({ field, type, value }, '$eq', path, depth);
    const names = Object.keys(value);
    const combinator = names.find((name) => combinators.has(name));
    if (combinator !== undefined) return this.#refuse([...path, combinator], misplaced(combinator, field));
    if (names.some((name) => name.startsWith('$')))
      return all(names.map((name) => this.#operator({ field, type, value: value[name] }, name, [...path, name], depth)));
    if (type !== 'object' && type !== 'any')
      return this.#refuse(path, {
        code: 'invalid-type',
        values: { allowed: typeof type !== 'string' ? 'array' : type === 'instant' ? 'date-time' : type },
      });
    // Without tests it would hold for every entity, with the field or without.
    if (names.length === 0) return this.#refuse(path, { code: 'invalid-value' });
    if (depth >= this.#limits.depth) return this.#refuse(path, { code: 'invalid-value', values: { maximum: this.#limits.depth } });
    return all(names.map((name) => this.#field([...field, name], value[name], [...path, name], depth + 1)));
  }

  #operator(operand: Operand, name: string, path: FilterPath, depth: number): Filter {
    if (name === '$fold') return this.#fold(operand, path, depth);
    this.#tests += 1;
    if (this.#tests > this.#limits.tests) {
      const isFirst = this.#tests === this.#limits.tests + 1;
      return isFirst ? this.#refuse(path, { code: 'too-many-tests', values: { limit: this.#limits.tests } }) : everyEntity;
    }
    if (name === '$match') return this.#match(operand, path, depth);
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (!operator) {
      const isReference = this.#types.targetOf?.(operand.field) !== undefined;
      return this.#refuse(path, {
        code: 'unknown-operator',
        ...expectedOneOf([
          ...operatorsOf(operand.type),
          ...(typeof this.#foldingOf(operand.field) === 'number' ? ['$fold'] : []),
          ...(isReference ? ['$match'] : []),
        ]),
      });
    }
    return operator(
      { ...operand, texts: this.#types.textsOf?.(operand.field) },
      {
        refuse: (fault, at = []) => this.#refuse([...path, ...at], fault),
        inValues: this.#limits.inValues,
      },
    );
  }

  /** The tests of the text without regard to case and accents: a value stands for its equality. */
  #fold({ field, type, value }: Operand, path: FilterPath, depth: number): Filter {
    const folding = this.#foldingOf(field);
    if (folding === undefined) return this.#refuse(path, { code: 'not-filterable', values: { allowed: operatorsOf(type).join(', ') } });
    if (folding === 'unindexed') return this.#refuse(path, needsFolding(field));
    const operand: Operand = { field, type: 'folded', value, maximumFolded: folding };
    if (!isObject(value)) return this.#operator(operand, '$eq', path, depth);
    const tests = Object.entries(value);
    if (tests.length === 0) return this.#refuse(path, { code: 'invalid-value' });
    return all(
      tests.map(([name, member]) =>
        foldedOperators.includes(name)
          ? this.#operator({ ...operand, value: member }, name, [...path, name], depth)
          : this.#refuse([...path, name], { code: 'unknown-operator', ...expectedOneOf(foldedOperators) }),
      ),
    );
  }

  #foldingOf(field: Field): ReturnType<NonNullable<FieldTypes['foldingOf']>> {
    return isOfEnvelope(field) ? undefined : this.#types.foldingOf?.(field);
  }

  /** The tests of the entity that the reference leads to. */
  #match({ field, value }: Operand, path: FilterPath, depth: number): Filter {
    const target = this.#types.targetOf?.(field);
    if (!target) return this.#refuse(path, { code: 'not-a-reference' });
    if (this.#matches === maximumMatches) return this.#refuse(path, { code: 'too-deep', values: { limit: maximumMatches } });
    const types = this.#types;
    this.#types = target.fields;
    this.#matches += 1;
    const of = this.filter(value, path, depth + 1);
    this.#types = types;
    this.#matches -= 1;
    return { kind: 'match', field, to: target.name, of };
  }

  #refuse(path: FilterPath, fault: Unplaced): Filter {
    if (this.faults.length < maximumFaults) {
      const names = path.map(String);
      this.faults.push({ ...fault, ...placeOf(path, (depth) => this.#positionOf(names.slice(0, depth + 1))) });
    }
    return everyEntity;
  }
}

type DistributiveOmit<T, K extends keyof T> = T extends unknown ? Omit<T, K> : never;
/** A fault whose place is not known yet. */
export type Unplaced = DistributiveOmit<Fault, 'pointer' | 'parameter' | 'position'>;
