/** Switches the profile of a session. */
import { findProfile } from '../accounts/profiles.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import { replaceToken } from './replace-token.ts';

/**
 * Switches to the user's profile called `name`, or to the default one for undefined. Returns the new token once no process accepts an older one
 * than that of the request, which ends with the first use of the new one (rules 15 and 20). Throws 404 `not-found` for any other name (rule 63).
 */
export async function switchProfile(
  context: SessionContext,
  caller: Caller,
  principal: Principal,
  name: string | undefined,
): Promise<string> {
  const profile = await findProfile(context.store.db, principal.user.id, name);
  if (!profile) throw new Problem('not-found');
  const to = { profileId: profile.id, locale: profile.locale ?? undefined };
  const token = await replaceToken(context, caller, principal, 'profile.changed', to);
  await context.listener.settle();
  return token;
}
