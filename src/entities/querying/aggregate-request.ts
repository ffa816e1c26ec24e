/** What an aggregation shall have, from the body of the request. */
import type { components } from '../../../generated/api.ts';
import { indexedMember } from '../companion/rule-layout.ts';
import type { Fault } from '../../problems/faults.ts';
import { isOrdered } from '../../filter/values.ts';
import type { Field, FieldTypes, ScalarType } from '../../filter/fields.ts';
import { bodyLimits } from '../../filter/limits.ts';
import { parseFilter, type Unplaced } from '../../filter/parse.ts';
import { parseSort, readField } from '../../filter/sort.ts';
import { all, type Filter } from '../../filter/syntax.ts';
import { withVariables, type Variables } from '../../filter/variables.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { refusedQuery } from './list-request.ts';
import type { FilterScope, MatchTargets, ReadScope } from './scope.ts';

type AggregationBody = components['schemas']['EntityAggregation'];
/** A period that instants and days are grouped by. */
export type Unit = Extract<NonNullable<AggregationBody['groupBy']>[number], { by: unknown }>['by'];

/** A field whose values one scalar type compares. */
interface TypedField {
  field: Field;
  type: ScalarType;
  /** The pointer to its name in the body. */
  pointer: string;
}

export interface Grouping extends TypedField {
  /** The name in the body, and in the keys of groups. */
  path: string;
  /** The period that instants and days are grouped by; undefined to group by values. */
  by: Unit | undefined;
  /** A time zone of the IANA database. */
  zone: string;
}

export type Measure = { name: string; of: 'count' } | ({ name: string; of: 'sum' | 'avg' | 'min' | 'max' } & TypedField);

/** A group or a measure by which groups are sorted. */
export interface GroupOrder {
  of: 'groups' | 'measures';
  index: number;
  descending: boolean;
}

export interface AggregateRequest {
  filter: Filter;
  /** What the references of the filter lead to. */
  targets: MatchTargets;
  groups: readonly Grouping[];
  measures: readonly Measure[];
  /** A filter over the measures, by their names. */
  having: Filter;
  sort: readonly GroupOrder[];
  limit: number;
}

/** The most groups of an answer. */
const maximumGroups = 1_000;
const maximumMeasures = 8;

/** Reads the body. Throws 422 as {@link refusedQuery} says for what is not accepted. */
export async function readAggregation(body: AggregationBody, readScope: ReadScope): Promise<AggregateRequest> {
  const reader = new AggregationReader(await readScope(body.filter));
  const request = reader.read(body);
  if (reader.faults.length > 0) throw refusedQuery(reader.faults);
  return request;
}

/** The type of a measure for filters: sums and averages are decimal texts. */
const measureType = (measure: Measure): ScalarType =>
  measure.of === 'count' ? 'number' : measure.of === 'sum' || measure.of === 'avg' ? 'decimal' : measure.type;

const summed: readonly ScalarType[] = ['number', 'decimal', 'int64'];

class AggregationReader {
  readonly faults: Fault[] = [];
  readonly #types: FieldTypes;
  readonly #targets: MatchTargets;
  readonly #variables: Variables;

  constructor({ fields, targets, variables }: FilterScope) {
    this.#types = fields;
    this.#targets = targets;
    this.#variables = variables;
  }

  read({
    filter = {},
    search,
    groupBy = [],
    measures: named,
    having = {},
    sort,
    limit = maximumGroups,
  }: AggregationBody): AggregateRequest {
    const groups = groupBy.flatMap((one, index) => this.#grouping(one, index, groupBy));
    const count = Object.keys(named).length;
    if (count === 0 || count > maximumMeasures)
      this.#refuse(['measures'], { code: 'invalid-value', values: count === 0 ? { minimum: 1 } : { maximum: maximumMeasures } });
    const measures = Object.entries(named).flatMap(([name, measure]) => this.#measure(name, measure));
    const measureTypes = new Map(measures.map((measure) => [measure.name, measureType(measure)]));
    const tested = withVariables(this.#filter(filter, this.#types, 'filter', this.#variables), this.#variables);
    return {
      filter: search === undefined ? tested : all([tested, { kind: 'search', field: [], words: search }]),
      targets: this.#targets,
      groups,
      measures,
      having: this.#filter(
        having,
        { typeOf: ([name = '', ...below]) => (below.length > 0 ? undefined : measureTypes.get(name)) },
        'having',
      ),
      sort: this.#sort(sort ?? [], groups, measures),
      limit,
    };
  }

  /** Without variables only values are compared. */
  #filter(value: unknown, types: FieldTypes, member: string, variables?: Variables): Filter {
    const read = parseFilter(value, types, bodyLimits, variables);
    if ('filter' in read) return read.filter;
    this.faults.push(...read.faults.map((fault) => Object.assign(fault, { pointer: `/${member}${fault.pointer ?? ''}` })));
    return all([]);
  }

  #grouping(
    one: NonNullable<AggregationBody['groupBy']>[number],
    index: number,
    groupBy: NonNullable<AggregationBody['groupBy']>,
  ): Grouping[] {
    const { path, by, zone } = typeof one === 'string' ? { path: one } : one;
    const at = typeof one === 'string' ? ['groupBy', index] : ['groupBy', index, 'path'];
    const found = this.#field(path, at);
    if (!found) return [];
    if (groupBy.findIndex((other) => path === (typeof other === 'string' ? other : other.path)) < index)
      return this.#refuse(at, { code: 'repeated' });
    if (by !== undefined && found.type !== 'date-time' && found.type !== 'date') return this.#refuse(at, { code: 'not-filterable' });
    if (by === 'hour' && found.type === 'date') return this.#refuse(['groupBy', index, 'by'], { code: 'invalid-value' });
    if (zone !== undefined && (found.type !== 'date-time' || !isZone(zone)))
      return this.#refuse(['groupBy', index, 'zone'], { code: 'invalid-value' });
    return [{ ...found, path, by, zone: zone ?? 'UTC' }];
  }

  #measure(name: string, measure: AggregationBody['measures'][string]): Measure[] {
    const at = ['measures', name];
    // The members of a group are its key and its measures.
    if (!/^[A-Za-z]\w{0,63}$/.test(name) || name === 'key') return this.#refuse(['measures'], { code: 'invalid-value' });
    if (Object.keys(measure).length !== 1) return this.#refuse(at, { code: 'invalid-value' });
    if ('$count' in measure) return [{ name, of: 'count' }];
    const [operator = '', path = ''] = Object.entries(measure)[0] ?? [];
    const found = this.#field(String(path), [...at, operator]);
    if (!found) return [];
    const of = operator.slice(1) as Exclude<Measure['of'], 'count'>;
    const isAccepted = of === 'sum' || of === 'avg' ? summed.includes(found.type) : isOrdered(found.type);
    return isAccepted ? [{ name, of, ...found }] : this.#refuse([...at, operator], { code: 'not-filterable' });
  }

  #field(path: string, at: readonly (string | number)[]): TypedField | undefined {
    const member = indexedMember(path);
    if (member) return { field: [path], type: member, pointer: pointerTo(at) };
    const found = readField(path, this.#types);
    if ('code' in found) return void this.#refuse(at, found);
    const { field, type } = found;
    if (typeof type !== 'string' || type === 'object' || type === 'any') return void this.#refuse(at, { code: 'not-filterable' });
    return { field, type, pointer: pointerTo(at) };
  }

  #sort(names: readonly string[], groups: readonly Grouping[], measures: readonly Measure[]): GroupOrder[] {
    const order = new Map<string, Omit<GroupOrder, 'descending'>>([
      ...groups.map(({ path }, index) => [path, { of: 'groups', index }] as const),
      ...measures.map(({ name }, index) => [name, { of: 'measures', index }] as const),
    ]);
    const read = parseSort(names, { typeOf: (field) => (order.has(field.join('.')) ? 'string' : undefined) });
    if ('faults' in read) {
      for (const { index, ...fault } of read.faults) this.#refuse(index === -1 ? ['sort'] : ['sort', index], fault);
      return [];
    }
    return read.sort.flatMap(({ field, descending }) => {
      const found = order.get(field.join('.'));
      if (found) return [{ ...found, descending }];
      const index = names.findIndex((name) => name.replace(/^-/, '') === field.join('.'));
      return this.#refuse(['sort', index], { code: 'unknown-field' });
    });
  }

  #refuse(path: readonly (string | number)[], fault: Unplaced): never[] {
    this.faults.push({ ...fault, pointer: pointerTo(path) });
    return [];
  }
}

/** Whether the name may be that of a time zone. An offset is none: PostgreSQL would read its sign the other way round. */
function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
}
