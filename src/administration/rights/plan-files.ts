/** The plan of files as an administrator asks for it, who may apply it or not. */
import type { Store } from '../../database/port.ts';
import { planRights, type RightsPlan, type RightsPlanRequest } from './plan.ts';
import { assertServedGrants, type SlowRules } from './slow-grants.ts';

/** Plans the change and applies nothing. Throws `RefusedRights` for rights that cannot be put in force. */
export async function planFiles(store: Store, { allowSlow = false, ...request }: RightsPlanRequest & SlowRules): Promise<RightsPlan> {
  const { plan } = await planRights(store.db, request);
  if (!allowSlow) await assertServedGrants(store, request);
  return plan;
}
