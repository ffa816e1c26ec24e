/**
 * Changes of profiles, each in one transaction with its audit event (rule 85). The database notifies the services at commit
 * (`0005-principal-notices.sql`), so a change affects the next request (rule 62). Each function that takes the name of an existing profile or role throws
 * 404 `not-found`.
 */
import type { Transaction } from 'kysely';
import { deleteUnusedProfile, getProfileState, insertProfile, updateProfile, type ProfileState } from '../../accounts/assignments.ts';
import { getNamedRow } from '../../accounts/named-rows.ts';
import { assertFewRules } from '../../accounts/role-rules.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Store } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import type { Owner } from '../../rights/administration.ts';
import { changeAttributes, type AttributeChanges } from '../attributes/change.ts';
import type { Changed } from '../changed.ts';

/** A profile that is to be created, without attributes. */
export type NewProfileState = Omit<ProfileState, 'attributes'>;

/** Creates a profile. Throws 409 `conflict` if there is a profile of that name, and 422 `validation-failed` if its roles have too many rules. */
export function createProfile(store: Store, { actor }: Owner, { name, label, locale, roles }: NewProfileState): Promise<ProfileState> {
  return store.transaction(async (trx) => {
    const id = await insertProfile(trx, { name, label, locale, roleIds: await lockRoles(trx, roles) });
    await assertFewRules(trx, { profile: id });
    await recordChange(trx, actor, { event: 'profile.created', detail: { profile: name, roles } });
    return await getProfileState(trx, id);
  });
}

/** The members of a profile that change; undefined stays as it is. */
export type ProfileChanges = { [Member in Exclude<keyof NewProfileState, 'name'>]?: NewProfileState[Member] | undefined } & {
  attributes?: AttributeChanges | undefined;
};

/**
 * Changes a profile. `roles` stand in place of the present ones, and are at least one; of `attributes` those that are named change. Throws 422
 * `validation-failed` for attributes as `changeAttributes` does, and if the roles have too many rules.
 */
export function changeProfile(
  store: Store,
  { actor }: Owner,
  name: string,
  { label, locale, roles, attributes }: ProfileChanges,
): Promise<Changed<ProfileState>> {
  return store.transaction(async (trx) => {
    const { id } = await getNamedRow(trx, 'profile', name, 'no key update');
    const values = attributes && (await changeAttributes(trx, 'profile', (await getProfileState(trx, id)).attributes, attributes));
    const roleIds = roles && (await lockRoles(trx, roles));
    const changed = await updateProfile(trx, id, { label, locale, roleIds, attributes: values?.attributes });
    if (roles) await assertFewRules(trx, { profile: id });
    const detail = { profile: name, label, locale, roles, attributes: values?.names };
    if (changed) await recordChange(trx, actor, { event: 'profile.updated', detail });
    return { state: await getProfileState(trx, id), changed };
  });
}

/** Deletes a profile. Throws 409 `conflict` while users have it or live API keys are bound to it. */
export function deleteProfile(store: Store, { actor }: Owner, name: string): Promise<void> {
  return store.transaction(async (trx) => {
    await deleteUnusedProfile(trx, name);
    await recordChange(trx, actor, { event: 'profile.deleted', detail: { profile: name } });
  });
}

/** The ids of the roles, none of which is deleted before the transaction ends. */
async function lockRoles(trx: Transaction<Database>, names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push((await getNamedRow(trx, 'role', name, 'key share')).id);
  return ids;
}
