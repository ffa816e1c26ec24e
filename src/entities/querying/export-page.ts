/**
 * Reads all entities that a filter and a search find, by key or in another order. The cost of each page is bounded as that of a list is
 * (decision 111), so that there is no limit for the whole.
 */
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { withoutTransaction, type Run } from '../../database/read-transaction.ts';
import type { Reads } from '../../database/standby/readers.ts';
import type { RowPosition } from '../../filter/order.ts';
import type { Filter } from '../../filter/syntax.ts';
import { readOthers } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';
import { accessPathOf, type AccessPath } from './access-path.ts';
import { bindQuery, bindToRows } from './bind.ts';
import { assertSearchable, needsIndex } from './list.ts';
import type { ListRequest } from './list-request.ts';
import { followMatches, hasMatch, withFoundKeys } from './match.ts';
import { affordablePath, readPage, type RowPage } from './page.ts';
import { withinTimeLimit } from './time-limit.ts';

const pageRows = 1_000;
const pageBytes = 262_144;
/** For all statements of a page, in milliseconds. A test lowers it. */
export const exportLimits = { timeMs: 5_000 };

/** The entities of a name to read. */
export type EntitySelection = Pick<ListRequest, 'filter' | 'targets' | 'search' | 'sort' | 'projection' | 'carrier'>;

/**
 * The entities after `after`: at most 1,000, and 256 KiB of fields unless one alone has more. There may be none, and still a next page.
 * Throws 422 `query-too-expensive` for a sort that needs an index, and 503 `busy` for a page that takes too long.
 */
export async function readExportPage(
  reads: Reads,
  permit: Permit<'read'>,
  selection: EntitySelection,
  companion: Companion | null | undefined,
  after: RowPosition | undefined,
): Promise<RowPage> {
  assertSearchable(selection, companion, permit.view);
  const { filter, targets, projection, search, sort, carrier } = selection;
  const bind = sort.length === 0 && search === undefined ? bindToRows : bindQuery;
  const pathFor = (followed: Filter, covered: Permit<'read'>) => {
    const wanted = { filter: followed, sort, projection, limit: pageRows, bytes: pageBytes };
    return accessPathOf(bind(wanted, covered, (companion && readableCompanion(companion)) ?? undefined));
  };
  const cursor = after && { ...after, direction: 'next' as const };
  const read = async (run: Run, path: AccessPath): Promise<RowPage> => {
    const affordable = await affordablePath(run, path, cursor);
    if (!affordable) throw needsIndex(selection, permit, path);
    return await readPage(run, affordable, cursor);
  };
  const limited = (work: (run: Run) => Promise<RowPage>) => reads.readOnly(exportLimits.timeMs, work);
  return await withinTimeLimit(carrier.place('filter'), async () => {
    if (hasMatch(filter) || readOthers(permit))
      return await limited(async (run) => read(run, pathFor(await followMatches(run, filter, targets), await withFoundKeys(run, permit))));
    const path = pathFor(filter, permit);
    return await (path.budget === undefined ? read(withoutTransaction(reads), path) : limited((run) => read(run, path)));
  });
}
