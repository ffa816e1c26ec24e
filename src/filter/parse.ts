/**
 * Reads the filter of a list: the JSON object of docs/filters.md. All its faults are reported, each by its pointer. The value must come from
 * `json/json.ts`, which has refused duplicate members, inexact numbers and the names of prototypes.
 */
import { maximumFaults, type Fault } from '../problems/faults.ts';
import { expectedOneOf } from '../problems/expected.ts';
import { looksLikeName, placeOf, positionsIn } from '../problems/pointer.ts';
import {
  isEnvelopeName,
  isLabel,
  isLabelName,
  isOfEnvelope,
  envelopeTypes,
  labelField,
  type Field,
  type FieldType,
  type FieldTypes,
} from './fields.ts';
import { operandName, readOperand, type OperandReference } from './operands.ts';
import { ruleLimits, type FilterLimits } from './limits.ts';
import { foldedOperators, operators, operatorsOf, typeName, type TestedField } from './operators.ts';
import { all, any, everyEntity, not, type Filter } from './syntax.ts';
import type { VariableTypes } from './variables.ts';

type Parsed = { filter: Filter } | { faults: Fault[] };

/** The rule of a grant over entities with these fields, read as {@link parseFilter} reads a filter of a caller. */
export function parseRule(value: unknown, types: FieldTypes, variables: VariableTypes): Parsed {
  return parseFilter(value, { ...types, labelParts: undefined }, ruleLimits, variables);
}

/**
 * The filter, or the first {@link maximumFaults} of its faults, whose pointers begin at the filter itself. Without `variables` values stand alone: there are
 * no `$var`, no `$field` and no `$ago`.
 */
export function parseFilter(value: unknown, types: FieldTypes, limits: Readonly<FilterLimits>, variables?: VariableTypes): Parsed {
  const reader = new FilterReader(value, { types, limits, variables });
  const filter = reader.filter(value, []);
  return reader.faults.length > 0 ? { faults: reader.faults.slice(0, maximumFaults) } : { filter };
}

const combinators = ['$and', '$or', '$not'] as const;
type Combinator = (typeof combinators)[number];
const isCombinator = (name: string): name is Combinator => combinators.some((each) => each === name);

/** The fault of a folded test without an index, with the entry of `x-index` that would serve it. */
function needsFolding(field: Field): Unplaced {
  if (!field.every(looksLikeName)) return { code: 'needs-index' };
  return { code: 'needs-index', values: { entry: JSON.stringify({ field: field.join('.'), fold: true }) } };
}

type FilterPath = readonly (string | number)[];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

interface FilterContext {
  types: FieldTypes;
  limits: Readonly<FilterLimits>;
  variables: VariableTypes | undefined;
}

class FilterReader {
  readonly faults: Fault[] = [];
  readonly #positionOf: ReturnType<typeof positionsIn>;
  readonly #limits: Readonly<FilterLimits>;
  readonly #variables: VariableTypes | undefined;
  /** Of the entities that are tested where the reader is: inside of `$match` and `$some` those at the other end of the reference. */
  #types: FieldTypes;
  #references = 0;
  #counts = { tests: 0, some: 0, lookUps: 0 };

  constructor(value: unknown, { types, limits, variables }: FilterContext) {
    this.#positionOf = positionsIn(value);
    this.#types = types;
    this.#limits = limits;
    this.#variables = variables;
  }

  filter(value: unknown, path: FilterPath, depth = 1): Filter {
    if (!isObject(value)) return this.#refuse(path, { code: 'invalid-type', values: { allowed: 'object' } });
    if (depth > this.#limits.depth) return this.#refuse(path, { code: 'invalid-value', values: { maximum: this.#limits.depth } });
    return all(Object.entries(value).map(([name, member]) => this.#member(name, member, [...path, name], depth)));
  }

  #member(name: string, member: unknown, path: FilterPath, depth: number): Filter {
    if (isCombinator(name)) return this.#combined(name, member, path, (one, at) => this.filter(one, at, depth + 1));
    if (name === '$some') return this.#some(member, path, depth);
    if (name === '$none') return not(this.#some(member, path, depth));
    if (isEnvelopeName(name)) return this.#test([name], envelopeTypes[name], member, path, depth);
    if (isLabelName(name, this.#types)) return this.#test(labelField, 'string', member, path, depth);
    if (name.startsWith('$')) return this.#refuse(path, { code: 'not-addressable' });
    return this.#field([name], member, path, depth);
  }

  #combined(name: Combinator, value: unknown, path: FilterPath, read: (one: unknown, path: FilterPath) => Filter): Filter {
    if (name === '$not') return not(read(value, path));
    if (!Array.isArray(value)) return this.#refuse(path, { code: 'invalid-type', values: { allowed: 'array' } });
    const each = value.map((one, index) => read(one, [...path, index]));
    return name === '$and' ? all(each) : any(each);
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

  /** A value stands for its equality, an object has operators, or the members of the field. Both may have combinations of tests of the field beside. */
  #test(field: Field, type: FieldType, value: unknown, path: FilterPath, depth: number): Filter {
    if (!isObject(value) || this.#isOperand(value)) return this.#operator({ field, type, value }, '$eq', path, depth);
    const { combined = [], others = [] } = Object.groupBy(Object.keys(value), (name) => (isCombinator(name) ? 'combined' : 'others'));
    const combinations = combined.map((name) =>
      this.#combined(name as Combinator, value[name], [...path, name], (one, at) =>
        this.#inner({ field, type, value: one }, at, depth + 1),
      ),
    );
    if (others.some((name) => name.startsWith('$')))
      return all([
        ...combinations,
        ...others.map((name) => this.#operator({ field, type, value: value[name] }, name, [...path, name], depth)),
      ]);
    if (others.length === 0 && combined.length > 0) return all(combinations);
    if (type !== 'object' && type !== 'any') return this.#refuse(path, { code: 'invalid-type', values: { allowed: typeName(type) } });
    // Without tests it would hold for every entity, with the field or without.
    if (others.length === 0) return this.#refuse(path, { code: 'invalid-value' });
    if (depth >= this.#limits.depth) return this.#refuse(path, { code: 'invalid-value', values: { maximum: this.#limits.depth } });
    return all([...combinations, ...others.map((name) => this.#field([...field, name], value[name], [...path, name], depth + 1))]);
  }

  /** A test inside of a combination of tests of the field. */
  #inner({ field, type, value }: TestedField, path: FilterPath, depth: number): Filter {
    if (depth > this.#limits.depth) return this.#refuse(path, { code: 'invalid-value', values: { maximum: this.#limits.depth } });
    return this.#test(field, type, value, path, depth);
  }

  #isOperand(value: unknown): boolean {
    return this.#variables !== undefined && operandName(value) !== undefined;
  }

  /** Counts one more, and records a fault at the first one beyond the limit. */
  #isWithin(count: 'tests' | 'some' | 'lookUps', path: FilterPath): boolean {
    this.#counts[count] += 1;
    const limit = this.#limits[count];
    if (this.#counts[count] === limit + 1) this.#refuse(path, { code: 'too-many-tests', values: { limit } });
    return this.#counts[count] <= limit;
  }

  #operator(tested: TestedField, name: string, path: FilterPath, depth: number): Filter {
    if (name === '$fold') return this.#fold(tested, path, depth);
    if (!this.#isWithin('tests', path)) return everyEntity;
    if (name === '$match') return this.#match(tested, path, depth);
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (!operator) return this.#refuse(path, { code: 'unknown-operator', ...expectedOneOf(this.#operatorsOf(tested)) });
    return operator(
      { ...tested, texts: this.#types.textsOf?.(tested.field) },
      {
        refuse: (fault, at = []) => this.#refuse([...path, ...at], fault),
        referenceIn: (value, at = []) => this.#referenceIn(value, [...path, ...at]),
        inValues: this.#limits.inValues,
      },
    );
  }

  #operatorsOf({ field, type }: TestedField): string[] {
    const folds = typeof this.#foldingOf(field) === 'number' ? ['$fold'] : [];
    const matches = this.#types.targetOf?.(field) === undefined ? [] : ['$match'];
    return [...operatorsOf(type), ...folds, ...matches, ...combinators];
  }

  /** An operand that is no value. */
  #referenceIn(value: unknown, path: FilterPath): OperandReference | 'refused' | undefined {
    const name = this.#variables && operandName(value);
    if (!this.#variables || !name) return undefined;
    const read = readOperand(name, (value as Record<string, unknown>)[name], this.#types, this.#variables);
    if (!('code' in read)) return read;
    this.#refuse([...path, name], read);
    return 'refused';
  }

  /** The tests of the text without regard to case and accents: a value stands for its equality. */
  #fold({ field, type, value }: TestedField, path: FilterPath, depth: number): Filter {
    const folding = this.#foldingOf(field);
    if (folding === undefined) return this.#refuse(path, { code: 'not-filterable', values: { allowed: operatorsOf(type).join(', ') } });
    if (folding === 'unindexed') return this.#refuse(path, needsFolding(field));
    const operand: TestedField = { field, type: 'folded', value, maximumFolded: folding };
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
    return isOfEnvelope(field) || isLabel(field) ? undefined : this.#types.foldingOf?.(field);
  }

  /** The tests of the entity that the reference leads to. */
  #match({ field, value }: TestedField, path: FilterPath, depth: number): Filter {
    const target = this.#types.targetOf?.(field);
    if (!target) return this.#refuse(path, { code: 'not-a-reference' });
    return { kind: 'match', field, to: target.name, of: this.#elsewhere(target.fields, value, path, depth) };
  }

  /** The tests of the entities that lead to this one: `{"name.field": filter}`. */
  #some(value: unknown, path: FilterPath, depth: number): Filter {
    if (!this.#isWithin('tests', path) || !this.#isWithin('some', path)) return everyEntity;
    if (!isObject(value)) return this.#refuse(path, { code: 'invalid-type', values: { allowed: 'object' } });
    const [reference, ...others] = Object.keys(value);
    if (reference === undefined || others.length > 0)
      return this.#refuse(path, { code: 'invalid-value', values: { minimum: 1, maximum: 1 } });
    const at = [...path, reference];
    const referrer = this.#types.referrerOf?.(reference);
    if (!referrer) return this.#refuse(at, { code: 'not-a-reference' });
    const of = this.#elsewhere(referrer.fields, value[reference], at, depth);
    const entry = this.faults.length === 0 ? referrer.lackedIndex(of) : undefined;
    if (entry) return this.#refuse(at, { code: 'needs-index', ...(entry.length > 0 && { values: { entry: JSON.stringify(entry) } }) });
    return { kind: 'some', field: ['$key'], name: referrer.name, by: referrer.by, of };
  }

  /** The filter of entities at the other end of a reference. */
  #elsewhere(fields: FieldTypes, value: unknown, path: FilterPath, depth: number): Filter {
    if (!this.#isWithin('lookUps', path)) return everyEntity;
    const { references } = this.#limits;
    if (this.#references === references) return this.#refuse(path, { code: 'too-deep', values: { limit: references } });
    const types = this.#types;
    this.#types = fields;
    this.#references += 1;
    const of = this.filter(value, path, depth + 1);
    this.#types = types;
    this.#references -= 1;
    return of;
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
