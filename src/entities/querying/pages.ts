/**
 * Reads all entities that a filter and a search find, by key or in another order. The cost of each part is bounded as that of a list is
 * (decision 111), so that there is no limit for the whole.
 */
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { withoutTransaction, type Run } from '../../database/read-transaction.ts';
import type { Reads } from '../../database/standby/readers.ts';
import { Problem } from '../../problems/errors.ts';
import type { RowPosition } from '../../filter/order.ts';
import { all, type Filter } from '../../filter/syntax.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/row-predicate.ts';
import { roadOf } from './choose-road.ts';
import { entityRoad } from './entity-road.ts';
import { assertSearchable } from './list.ts';
import type { ListRequest } from './list-request.ts';
import { pageQuery, type ListRow, type WalkEnd } from './list-statements.ts';
import { followMatches, hasMatch } from './match.ts';
import type { Road } from './road.ts';
import { withinTimeLimit } from './time-limit.ts';
import type { EntityRow } from '../row.ts';

const pageRows = 1_000;
const pageBytes = 262_144;
/** For all statements of a part, in milliseconds. A test lowers it. */
export const partLimits = { timeMs: 5_000 };

/** What to read of the entities of a name. */
export type EntitySelection = Pick<ListRequest, 'filter' | 'targets' | 'search' | 'sort' | 'projection' | 'carrier'>;

/** A part of the entities, and the place after which the next part begins; undefined after the last. */
export interface EntityPart {
  rows: EntityRow[];
  next: RowPosition | undefined;
}

/**
 * The entities after `after`: at most 1,000, and 256 KiB of fields unless one alone has more. There may be none, and still a next part.
 * Throws 422 `query-too-expensive` for a sort that needs an index, and 503 `busy` for a part that takes too long.
 */
export async function readPart(
  reads: Reads,
  permit: Permit<'read'>,
  selection: EntitySelection,
  companion: Companion | null | undefined,
  after: RowPosition | undefined,
): Promise<EntityPart> {
  assertSearchable(selection, companion);
  const { filter, targets, projection, search, sort, carrier } = selection;
  const needsIndex = (member: 'search' | 'sort') =>
    new Problem('query-too-expensive', { faults: [{ ...carrier.place(member), code: 'needs-index' }] });
  const isByKey = sort.length === 0 && search === undefined;
  const roadFor = (found: Filter) =>
    (isByKey ? entityRoad : roadOf)({
      permit: permitValues(permit),
      filter: search === undefined ? found : all([found, { kind: 'search', field: [], words: search }]),
      sort,
      companion: (companion && readableCompanion(companion)) ?? undefined,
    });
  const read = async (run: Run, road: Road): Promise<EntityPart> => {
    const found = await road.find(run, { after, isBackwards: false, limit: pageRows });
    if (!found) throw needsIndex(sort.length > 0 ? 'sort' : 'search');
    const query = { ...found, order: road.order, limit: pageRows, bytes: pageBytes, projection, includes: [] };
    const rows = await run(pageQuery(query), found.scans);
    const cut = rows.findIndex(({ fields }, index) => fields === null || index === pageRows);
    if (cut !== -1) return { rows: rows.slice(0, cut).filter(isWhole), next: positionOf(rows[cut - 1]) };
    const [end] = found.end ? await run(found.end, found.scans) : [];
    return { rows: rows.filter(isWhole), next: positionOf(end) };
  };
  const limited = (work: (run: Run) => Promise<EntityPart>) => reads.readOnly(partLimits.timeMs, work);
  return await withinTimeLimit(carrier.place('filter'), async () => {
    if (hasMatch(filter)) return await limited(async (run) => read(run, roadFor(await followMatches(run, filter, targets))));
    const road = roadFor(filter);
    return await (road.isCheap ? read(withoutTransaction(reads), road) : limited((run) => read(run, road)));
  });
}

const isWhole = (row: ListRow): row is ListRow & { fields: string } => row.fields !== null;

function positionOf(row: ListRow | WalkEnd | undefined): RowPosition | undefined {
  return row && { values: row.position, key: row.key };
}
