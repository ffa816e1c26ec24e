/** Rules by which lists are mostly empty: a page by key looks at many entities that the rule does not cover (decision 335). */
import type { Kysely } from 'kysely';
import { bindToColumns, type BoundFields } from '../../entities/companion/fields.ts';
import { candidatesOf } from '../../entities/companion/index-ranges.ts';
import type { Companion } from '../../entities/companion/layout.ts';
import { countEntities, countFulfilling } from '../../entities/companion/scan.ts';
import type { Database } from '../../database/tables.ts';
import { filterCondition } from '../../filter/compile.ts';
import { entitySource } from '../../filter/source.ts';
import { all, any, conjuncts, constantOf, isEveryEntity, type Filter } from '../../filter/syntax.ts';
import { withVariables, type Variables } from '../../filter/variables.ts';
import { Problem } from '../../problems/errors.ts';
import { looksLikeName } from '../../problems/pointer.ts';

/** Shorter names are read whole, and a larger share fills a page. A test lowers them. */
export const slowRuleLimits = { entities: 10_000, share: 0.01 };

/** The most users whose values are tried. */
const maximumUsers = 20;

/** The filter of a rule on the entities of a name, and the values that it may meet. */
export interface CheckedRule {
  entity: string;
  filter: Filter;
  /** The columns and indexes that lists may read. */
  companion: Companion | undefined;
  /** The variables of users. */
  users: readonly Variables[];
}

/** Throws 422 `validation-failed` with `needs-index` and the share, if no index serves the rule and it covers less than 1 % of many entities for one of the users. */
export async function assertServed(db: Kysely<Database>, { entity, filter, companion, users }: CheckedRule): Promise<void> {
  const filled = new Map(users.map((variables) => withVariables(filter, variables)).map((each) => [JSON.stringify(each), each]));
  const slow = [...filled.values()].filter((each) => constantOf(each) === undefined && !isServed(each, companion)).slice(0, maximumUsers);
  if (slow.length === 0) return;
  const { entities, share } = slowRuleLimits;
  if ((await countEntities(db, entity, entities)) <= entities) return;
  const conditions = slow.map((each) => filterCondition(each, entitySource));
  const { total, counts } = await countFulfilling(db, entity, conditions);
  const least = Math.min(...counts) / total;
  if (least >= share) return;
  const entry = entryFor(filter);
  const values = { share: String(Number((100 * least).toPrecision(2))), ...(entry !== undefined && { entry: JSON.stringify(entry) }) };
  throw new Problem('validation-failed', { faults: [{ pointer: '/filter', code: 'needs-index', values }], audit: { entity } });
}

/** Whether an index leaves few rows for the filter, which has no variables. */
function isServed(filter: Filter, companion: Companion | undefined): boolean {
  return companion !== undefined && candidatesOf(withSampleKeys(filter), bindToColumns(companion)).length > 0;
}

/** The filter with a key in place of each look at other entities that an index finds first. */
function withSampleKeys(filter: Filter): Filter {
  switch (filter.kind) {
    case 'all':
      return all(filter.of.map(withSampleKeys));
    case 'any':
      return any(filter.of.map(withSampleKeys));
    case 'lookup': {
      const { companion } = filter.source as BoundFields;
      const isFound = !isEveryEntity(filter.of) && isServed(filter.of, companion);
      return isFound ? { kind: 'in', field: filter.field, type: 'int64', values: ['1'] } : filter;
    }
    default:
      return filter;
  }
}

/** The entry of `x-index` that would serve the rule; undefined if none would. */
function entryFor(filter: Filter): readonly string[] | { field: string; substring: true } | undefined {
  const tests = conjuncts(filter);
  const equal = tests.filter((test) => (test.kind === 'compare' && test.operator === '=') || test.kind === 'in' || test.kind === 'in-list');
  const names = equal.flatMap((test) => ('field' in test && test.field.every(looksLikeName) ? [test.field.join('.')] : []));
  if (names.length > 0) return names;
  const part = tests.find((test) => test.kind === 'substring');
  return part?.field.every(looksLikeName) ? { field: part.field.join('.'), substring: true } : undefined;
}
