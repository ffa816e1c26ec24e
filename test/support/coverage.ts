import { wholeView, type EntityRights } from '../../src/rights/field-view.ts';
import { allRows, coverageOf, type Coverage, type CoveredRows } from '../../src/rights/coverage.ts';
import { ownGrant } from '../../src/rights/grant.ts';

/** The rows that `owner` has created. */
export const ownRowsOf = (owner: string): Coverage =>
  coverageOf([ownGrant], { userName: owner, valuesOf: () => ({}), valueOf: () => undefined, filled: (filter) => filter }) ?? allRows;

/** The rows of a name that `owner` has created; all rows of the name for null. */
export const rowsCoveredFor = (entity: string, owner: string | null): CoveredRows & EntityRights => ({
  entity,
  view: wholeView,
  coverage: owner === null ? allRows : ownRowsOf(owner),
});
