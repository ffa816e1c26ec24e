import { wholeView, type EntityRights } from '../../src/rights/field-view.ts';
import { allRows, coverageOf, type CoveredRows } from '../../src/rights/coverage.ts';

/** The rows of a name that `owner` has created; all rows of the name for null. */
export const rowsCoveredFor = (entity: string, owner: string | null): CoveredRows & EntityRights => ({
  entity,
  view: wholeView,
  coverage: coverageOf([owner === null ? 'any' : 'own'], owner ?? '') ?? allRows,
});
