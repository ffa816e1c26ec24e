/** A list without an index of fields: by key, looking at a number of rows, or sorted if there are few. */
import { sql } from 'kysely';
import { searchedSource } from '../companion/source.ts';
import { entitySource } from '../../filter/source.ts';
import { conjuncts, constantOf } from '../../filter/syntax.ts';
import {
  candidatesQuery,
  hasKeyList,
  selectRows,
  selectedRows,
  splitKeys,
  walkedRows,
  walkEndQuery,
  type Selection,
} from './list-statements.ts';
import { trashedEntities } from '../writing/trash.ts';
import { areFew, budgetOf, listLimits, orderFor, type Road, type RoadQuery } from './road.ts';

/** The road over the table of entities. It is possible for every query; `find` returns undefined if there are too many entities to sort. */
export function entityRoad(wanted: RoadQuery): Road {
  const { permit, filter, companion, isTrash = false } = wanted;
  const source = companion ? searchedSource(companion) : entitySource;
  const selection: Selection = { permit, source, table: isTrash ? trashedEntities : sql`entity`, ...splitKeys(filter) };
  const order = orderFor(wanted, source);
  const isByKey = order.columns.length === 0;
  const scans = hasKeyList(selection.keys) || !isByKey ? 'by-any-index' : 'by-index';
  const looksAtMore = conjuncts(selection.rest).length > 0 || permit.owner !== null;
  return {
    order,
    isCheap: isByKey && !looksAtMore,
    selected: selectRows(selection),
    async find(run, { after, isBackwards }) {
      if (constantOf(filter) === false) return { ...selectedRows(selection, after), end: undefined, scans };
      if (isByKey && looksAtMore) {
        const walk = { keyDescending: order.keyDescending !== isBackwards, after, budget: budgetOf(selection.rest) };
        return { ...walkedRows(selection, walk), end: walkEndQuery(selection, walk), scans };
      }
      if (!isByKey && !areFew(await run(candidatesQuery(selection, listLimits.candidates + 1)))) return undefined;
      return { ...selectedRows(selection, after), end: undefined, scans };
    },
  };
}
