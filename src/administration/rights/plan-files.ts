/** The plan of files as an administrator asks for it, who may apply it or not. */
import type { Store } from '../../database/port.ts';
import { planRights, type RightsPlan, type RightsPlanRequest } from './plan.ts';
import { countRowsOfPlan, type RowPlan } from './row-effects.ts';
import { assertServedGrants, type SlowRules } from './slow-grants.ts';

export interface FilesPlanRequest extends RightsPlanRequest, SlowRules {
  /** The longest time to count rows, in milliseconds; 0 counts none. */
  countMs: number;
}

export interface FilesPlan extends RightsPlan, RowPlan {
  /** Whether the rows of all names whose rights change were counted, of some, or of none. */
  counted: 'all' | 'some' | 'none';
}

/** Plans the change and applies nothing. Throws `RefusedRights` for rights that cannot be put in force. */
export async function planFiles(store: Store, { allowSlow = false, countMs, ...request }: FilesPlanRequest): Promise<FilesPlan> {
  const planned = await planRights(store.db, request);
  if (!allowSlow) await assertServedGrants(store, request);
  if (countMs === 0) return { ...planned.plan, rows: [], uncounted: [], counted: 'none' };
  const { rows, uncounted } = await countRowsOfPlan(store, planned, { claims: request.claims, limitMs: countMs });
  const counted = uncounted.length === 0 ? 'all' : rows.length === 0 ? 'none' : 'some';
  return { ...planned.plan, rows, uncounted, counted };
}
