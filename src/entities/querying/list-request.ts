/**
 * The request of a list, from the parameters of a URL or from a body. Both are read by the same rules; only the places of faults differ.
 */
import type { components, operations } from '../../../generated/api.ts';
import { Problem } from '../../problems/errors.ts';
import { maximumFaults, type Fault, type FaultPlace } from '../../problems/faults.ts';
import { bodyLimits, urlLimits, type FilterLimits } from '../../filter/limits.ts';
import { parseFilter } from '../../filter/parse.ts';
import { parseSort, type NameFault, type SortTerm } from '../../filter/sort.ts';
import { all, type Filter } from '../../filter/syntax.ts';
import { withVariables } from '../../filter/variables.ts';
import { readJson } from '../../json/json.ts';
import type { Include, ReadIncludes } from './include.ts';
import type { WantedLabels } from './labels.ts';
import type { MatchTargets, ReadScope } from './scope.ts';
import { readProjection, type Projection } from './projection.ts';

export type CountKind = 'none' | 'capped' | 'estimated' | 'exact';

export interface ListRequest {
  /** With the search. */
  filter: Filter;
  /** What the references of the filter lead to. */
  targets: MatchTargets;
  /** Words to search for; undefined for no search. */
  search: string | undefined;
  sort: readonly SortTerm[];
  limit: number;
  cursor: string | undefined;
  /** The fields to send; undefined for all. */
  projection: Projection | undefined;
  /** The references to follow. */
  includes: readonly Include[];
  /** The names to send; undefined for none. */
  labels: WantedLabels | undefined;
  count: CountKind;
  /** Whether the entities in the trash are listed, instead of live ones. */
  isTrash: boolean;
  /** The filter, the sort and the search as text, the same for the same query however it came. */
  canonical: string;
  /** How the caller sent it, for the places of later faults. */
  carrier: ParameterCarrier;
}

type RequestMember = 'filter' | 'search' | 'sort' | 'limit' | 'cursor' | 'fields' | 'include' | 'count';

/** Where the members of a query are. */
export interface ParameterCarrier {
  /** The place of a member, or of something inside of it, which a URL shows for a filter alone. */
  place: (member: RequestMember, pointer?: string) => FaultPlace;
}

export const urlCarrier: ParameterCarrier = {
  place: (member, pointer) => (member === 'filter' ? { parameter: member, pointer: pointer ?? '' } : { parameter: member }),
};
const bodyCarrier: ParameterCarrier = { place: (member, pointer = '') => ({ pointer: `/${member}${pointer}` }) };

const defaultLimit = 50;

type Query = Partial<NonNullable<operations['listEntities']['parameters']['query']>>;

/** Reads the parameters of a URL. Throws 400 for a filter that is no JSON, and 422 for one that is not accepted. */
export async function readListQuery(
  { filter, search, sort, limit, cursor, fields, count, deleted }: Query,
  beside: WantedBeside,
  readScope: ReadScope,
): Promise<ListRequest> {
  return await readRequest(
    {
      filter: filter === undefined ? {} : readFilterText(filter),
      search,
      sort: sort === undefined ? [] : sort.split(','),
      limit: limit === undefined ? defaultLimit : Number(limit),
      cursor,
      fields: fields?.split(','),
      count,
      deleted,
      includes: beside,
      labels: beside.labels,
    },
    readScope,
    urlCarrier,
    urlLimits,
  );
}

/** Reads the body of a query. Throws 422 for what is not accepted. */
export async function readListBody(
  body: components['schemas']['EntityQuery'],
  beside: WantedBeside,
  readScope: ReadScope,
): Promise<ListRequest> {
  const { filter = {}, search, sort = [], limit = defaultLimit, cursor, fields, count, deleted } = body;
  return await readRequest(
    { filter, search, sort, limit, cursor, fields, count, deleted, includes: beside, labels: beside.labels },
    readScope,
    bodyCarrier,
    bodyLimits,
  );
}

function readFilterText(text: string): unknown {
  const read = readJson(Buffer.from(text));
  if ('value' in read) return read.value;
  throw new Problem('malformed-request', { faults: [{ ...read, parameter: 'filter' }] });
}

interface RawRequest {
  filter: unknown;
  search: string | undefined;
  sort: readonly string[];
  limit: number;
  cursor: string | undefined;
  fields: readonly string[] | undefined;
  count: CountKind | undefined;
  deleted: 'only' | undefined;
  includes: ReadIncludes;
  labels: WantedLabels | undefined;
}

/** The entities and names that a request wants beside its entities. */
export type WantedBeside = ReadIncludes & {
  /** The names to send; undefined for none. */
  labels?: WantedLabels | undefined;
};

async function readRequest(
  { includes, ...raw }: RawRequest,
  readScope: ReadScope,
  carrier: ParameterCarrier,
  limits: Readonly<FilterLimits>,
): Promise<ListRequest> {
  const { fields, targets, variables } = await readScope(raw.filter);
  // An entity in the trash has no row with folded texts and no name.
  const compared = raw.deleted === 'only' ? { ...fields, foldingOf: () => undefined, labelParts: undefined } : fields;
  const filter = parseFilter(raw.filter, compared, limits, variables);
  const sort = parseSort(raw.sort, compared);
  const projection = raw.fields && readProjection(raw.fields, fields);
  if ('faults' in filter || 'faults' in sort || (projection && 'faults' in projection) || 'faults' in includes) {
    const faults = [
      ...('faults' in filter ? filter.faults.map((fault) => Object.assign(fault, carrier.place('filter', fault.pointer))) : []),
      ...placeFaults(sort, 'sort', carrier),
      ...placeFaults(projection, 'fields', carrier),
      ...placeFaults(includes, 'include', carrier),
    ];
    throw refusedQuery(faults);
  }
  const tested = withVariables(filter.filter, variables);
  return {
    filter: raw.search === undefined ? tested : all([tested, { kind: 'search', field: [], words: raw.search }]),
    targets,
    search: raw.search,
    sort: sort.sort,
    limit: raw.limit,
    cursor: raw.cursor,
    projection: projection?.projection,
    includes: includes.includes,
    labels: raw.labels,
    count: raw.count ?? 'none',
    isTrash: raw.deleted === 'only',
    canonical: JSON.stringify([raw.filter, sort.sort, raw.search, ...(raw.deleted === undefined ? [] : [raw.deleted])]),
    carrier,
  };
}

/** The refusal of a query with these faults: 422 `query-too-expensive` if it lacks nothing but indexes, else `validation-failed`. */
export function refusedQuery(faults: readonly Fault[]): Problem {
  const lacksIndexes = faults.every(({ code }) => code === 'needs-index');
  return new Problem(lacksIndexes ? 'query-too-expensive' : 'validation-failed', { faults: faults.slice(0, maximumFaults) });
}

/** The faults of the names in a member of the query; none if these could be read. */
export function placeFaults(
  read: { faults: readonly NameFault[] } | object | undefined,
  member: RequestMember,
  { place }: ParameterCarrier,
): Fault[] {
  if (!read || !('faults' in read)) return [];
  return read.faults.map(({ index, ...fault }) => ({ ...fault, ...place(member, index === -1 ? '' : `/${index}`) }));
}
