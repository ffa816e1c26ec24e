/** Reads one page of an access path. */
import type { CompiledQuery } from 'kysely';
import type { Run, Scans } from '../../database/read-transaction.ts';
import { reverseOrder, type RowPosition } from '../../filter/order.ts';
import { constantOf } from '../../filter/syntax.ts';
import type { AccessPath, RangeSort } from './access-path.ts';
import { areOfWords, candidatesRows, coveredRows, indexEndQuery, indexRows, rangesQuery } from './column-statements.ts';
import type { CursorPosition } from './cursors.ts';
import {
  candidatesQuery,
  hasKeyList,
  pageQuery,
  scanEndQuery,
  scannedRows,
  selectedRows,
  type ListRow,
  type PageRows,
  type ScanEnd,
} from './list-statements.ts';

/** A row that the page has room for. */
export type PageRow = ListRow & { fields: string };

export interface RowPage {
  /** From the cursor on, so from the last to the first for a cursor that leads back. There may be none, and still a next page. */
  rows: PageRow[];
  /** The row after which the next page begins; undefined after the last page. */
  next: RowPosition | undefined;
}

/**
 * The path, or the first of those instead of it, in whose order the cursor is, and that sorts few rows; undefined if all of them would sort
 * too many.
 */
export async function affordablePath(run: Run, path: AccessPath, cursor: CursorPosition | undefined): Promise<AccessPath | undefined> {
  for (let one: AccessPath | undefined = path; one; one = one.otherwise) {
    const isOfCursor = !cursor || cursor.values.length === one.order.columns.length;
    if (isOfCursor && (await isAffordable(run, one))) return one;
  }
  return undefined;
}

async function isAffordable(run: Run, path: AccessPath): Promise<boolean> {
  switch (path.kind) {
    case 'primary key':
    case 'index-only scan':
    case 'index scan':
      return true;
    case 'covered rows': {
      const limit = path.budget + 1;
      const [row] = await run(rangesQuery(path.covered.companion, path.ranges, limit), scansOf(path.ranges, 'by-index'));
      return row !== undefined && row.count < limit;
    }
    case 'relevance':
    case 'sort': {
      if (constantOf(path.query.filter) === false) return true;
      const limit = path.budget + 1;
      const [row] = path.ranges
        ? await run(rangesQuery(path.query.fields.companion, path.ranges, limit), scansOf(path.ranges, 'by-index'))
        : await run(candidatesQuery(path.query, limit));
      return row !== undefined && row.count < limit;
    }
  }
}

/** Reads a page of a path that {@link affordablePath} has found. */
export async function readPage(run: Run, path: AccessPath, cursor: CursorPosition | undefined): Promise<RowPage> {
  const { page } = path.query;
  const { end, scans, ...rows } = rowsOf(path, cursor);
  const order = cursor?.direction === 'prev' ? reverseOrder(path.order) : path.order;
  const found = await run(pageQuery({ ...page, ...rows, order }), scans);
  const cut = found.findIndex(({ fields }, index) => fields === null || index === page.limit);
  if (cut !== -1) return { rows: found.slice(0, cut).filter(isWhole), next: positionOf(found[cut - 1]) };
  const [last] = end ? await run(end(), scans) : [];
  return { rows: found.filter(isWhole), next: positionOf(last) };
}

/** The rows that a page of the path is taken from. */
interface FoundRows extends PageRows {
  /** Makes the statement that reads the last row at which the page may look; undefined if the page looks at no row that it does not show. */
  end?: () => CompiledQuery<ScanEnd>;
  /** How PostgreSQL may find them. */
  scans: Scans;
}

export function rowsOf(path: AccessPath, cursor: CursorPosition | undefined): FoundRows {
  switch (path.kind) {
    case 'primary key': {
      const { query, order, budget } = path;
      const scans = hasKeyList(query.keys) ? 'by-any-index' : 'by-index';
      if (budget === undefined) return { ...selectedRows(query, cursor), scans };
      const scan = { keyDescending: order.keyDescending !== (cursor?.direction === 'prev'), after: cursor, budget };
      return { ...scannedRows(query, scan), end: () => scanEndQuery(query, scan), scans };
    }
    case 'index-only scan':
      return { ...indexRows(path, cursor), scans: 'by-index' };
    case 'index scan':
      return { ...indexRows(path, cursor), end: () => indexEndQuery(path, cursor), scans: 'by-index' };
    case 'covered rows':
      return { ...coveredRows(path, cursor), scans: scansOf(path.ranges, 'by-any-index') };
    case 'relevance':
    case 'sort':
      if (!path.ranges) return { ...selectedRows(path.query, cursor), scans: 'by-any-index' };
      return { ...candidatesRows(path, cursor), scans: scansOf(path.ranges, 'by-any-index') };
  }
}

const scansOf = (ranges: RangeSort['ranges'], otherwise: Scans): Scans =>
  areOfWords(ranges) || ranges.some(({ substring }) => substring !== undefined) ? 'by-bitmap' : otherwise;

const isWhole = (row: ListRow): row is PageRow => row.fields !== null;

/** The place of the row in its list. */
export function positionOf(row: ListRow | ScanEnd | undefined): RowPosition | undefined {
  return row && { values: row.position, key: row.key };
}
