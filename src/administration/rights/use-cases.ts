/** The rights of files as one change by an administrator. */
import type { Store } from '../../database/port.ts';
import type { Owner } from '../../rights/administration.ts';
import { applyRightsWithin, type AppliedRights, type ApplyRightsOptions } from './apply.ts';
import { assertServedGrants, type SlowRules } from './slow-grants.ts';

/**
 * Applies the files unless the plan needs a confirmation, or another one was confirmed: then it changes nothing. Throws `RefusedRights` for rights that cannot be put
 * in force, and 409 `older-version` while processes run that cannot enforce them.
 */
export async function applyRights(
  store: Store,
  { actor }: Owner,
  { allowSlow = false, ...options }: ApplyRightsOptions & SlowRules,
): Promise<AppliedRights> {
  if (!allowSlow) await assertServedGrants(store, options);
  return await store.transaction(async (trx) => await applyRightsWithin(trx, actor, options));
}
