/** Puts the rights of files in force, all of them in one transaction with its audit events (rule 85). */
import type { Transaction } from 'kysely';
import { deleteAttribute, deleteValues, upsertAttribute } from '../../accounts/attributes.ts';
import { deleteUnusedProfile, getProfileState, insertProfile, updateProfile } from '../../accounts/assignments.ts';
import { getNamedRow } from '../../accounts/named-rows.ts';
import { lockRights, replaceGrants } from '../../accounts/role-grants.ts';
import { deleteUnusedRole, insertRole, updateDescription } from '../../accounts/roles.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Actor } from '../../rights/administration.ts';
import { pathOfGrant, singleGrants, type RightsDocuments, type SingleGrant } from '../../rights/documents.ts';
import type { RightsStep } from '../../rights/plan.ts';
import type { AttributeOwner } from '../../rights/vocabulary.ts';
import { changeAttributes } from '../attributes/change.ts';
import { assertKnownByAll } from '../../database/older-processes.ts';
import { RefusedRights } from './check.ts';
import { needsConfirmation, planRights, type PlannedRights, type RightsPlanRequest, type RightsPlan } from './plan.ts';

export interface ApplyRightsOptions extends RightsPlanRequest {
  /** The digest of the plan that the administrator has seen. */
  confirm: string | undefined;
  /** Applies only documents that are all new, so that the rights of all users stay as they are. */
  onlyNew?: boolean;
}

export interface AppliedRights {
  /** The plan as it is in the transaction, after other changes have ended. */
  plan: RightsPlan;
  /** False without anything to do, and for a plan that has not been confirmed. */
  isApplied: boolean;
}

/** As {@link applyRights} of use-cases.ts, within a transaction. */
export async function applyRightsWithin(
  trx: Transaction<Database>,
  actor: Actor,
  { confirm, onlyNew = false, ...options }: ApplyRightsOptions,
): Promise<AppliedRights> {
  await lockRights(trx);
  const planned = await planRights(trx, options);
  const { plan } = planned;
  if (plan.steps.length === 0) return { plan, isApplied: false };
  if (confirm === undefined ? needsConfirmation(plan) : confirm !== plan.digest) return { plan, isApplied: false };
  if (onlyNew && !isAllNew(plan.steps, options.files)) return { plan, isApplied: false };
  await carryOut(trx, actor, planned);
  await recordChange(trx, actor, {
    event: 'rights.applied',
    detail: { digest: plan.digest, effect: plan.effect, steps: plan.steps.length },
  });
  return { plan, isApplied: true };
}

/** Whether no document of the files is in force yet, not even as another one. */
export const isAllNew = (steps: readonly RightsStep[], { attributes, roles, profiles }: RightsDocuments): boolean =>
  steps.every(({ kind }) => kind === 'create') &&
  steps.length === attributes.user.size + attributes.profile.size + roles.size + profiles.size;

/** Attributes come before the rules and profiles that use them, and roles before profiles. Deletions have the opposite order. */
async function carryOut(trx: Transaction<Database>, actor: Actor, { plan: { steps }, after }: PlannedRights): Promise<void> {
  await assertEnforced(trx, after);
  const order = [...steps.filter(({ kind }) => kind !== 'delete'), ...steps.filter(({ kind }) => kind === 'delete').toReversed()];
  for (const { kind, path } of order) {
    const [folder = '', ...rest] = path.split('/');
    const isNew = kind === 'create';
    if (folder === 'attributes') await declare(trx, actor, rest as [AttributeOwner, string], after);
    else if (folder === 'roles') await changeRole(trx, actor, { name: rest.join('/'), isNew, after });
    else await changeProfile(trx, actor, { name: rest.join('/'), isNew, after });
  }
}

async function assertEnforced(trx: Transaction<Database>, { roles }: RightsDocuments): Promise<void> {
  const grants = [...roles.values()].flatMap(singleGrants);
  await assertKnownByAll(trx, [
    ...(grants.some(({ name }) => name !== undefined) ? (['rule'] as const) : []),
    ...(grants.some(({ action }) => action === 'label') ? (['label'] as const) : []),
  ]);
}

async function declare(trx: Transaction<Database>, actor: Actor, [owner, name]: [AttributeOwner, string], { attributes }: RightsDocuments) {
  const schema = attributes[owner].get(name);
  if (schema === undefined) {
    await deleteAttribute(trx, owner, name);
    const holders = await deleteValues(trx, owner, name);
    return await recordChange(trx, actor, { event: 'attribute.removed', detail: { owner, attribute: name, holders } });
  }
  const before = await upsertAttribute(trx, { owner, name, schema });
  const detail = { owner, attribute: name, schema, ...(before !== undefined && { before }) };
  await recordChange(trx, actor, { event: 'attribute.declared', detail });
}

interface ChangedDocument {
  name: string;
  isNew: boolean;
  after: RightsDocuments;
}

async function changeRole(trx: Transaction<Database>, actor: Actor, { name, isNew, after }: ChangedDocument): Promise<void> {
  const role = after.roles.get(name);
  if (!role) {
    await deleteUnusedRole(trx, name);
    return await recordChange(trx, actor, { event: 'role.deleted', detail: { role: name } });
  }
  const id = isNew ? await insertRole(trx, name, role.description) : (await getNamedRow(trx, 'role', name)).id;
  if (!isNew) await updateDescription(trx, id, role.description);
  const { granted, revoked } = await replaceGrants(trx, id, singleGrants(role));
  const detail = { role: name, granted: granted.map(grantText), revoked: revoked.map(grantText) };
  await recordChange(trx, actor, { event: isNew ? 'role.created' : 'role.updated', detail });
}

/** The grant with the digest of its rule: `order/region/read 9f86…`, or `order/read own`. */
const grantText = (grant: Omit<SingleGrant, 'rule'>): string => `${pathOfGrant(grant)} ${grant.condition}`;

async function changeProfile(trx: Transaction<Database>, actor: Actor, { name, isNew, after }: ChangedDocument): Promise<void> {
  const profile = after.profiles.get(name);
  if (!profile) {
    await deleteUnusedProfile(trx, name);
    return await recordChange(trx, actor, { event: 'profile.deleted', detail: { profile: name } });
  }
  const { label, locale, roles } = profile;
  const roleIds: string[] = [];
  for (const role of roles) roleIds.push((await getNamedRow(trx, 'role', role)).id);
  const id = isNew ? await insertProfile(trx, { name, label, locale, roleIds }) : (await getNamedRow(trx, 'profile', name)).id;
  const { attributes: present } = await getProfileState(trx, id);
  const ends = Object.fromEntries(Object.keys(present).map((attribute) => [attribute, null]));
  const { attributes, names } = await changeAttributes(trx, 'profile', present, { ...ends, ...profile.attributes }).catch(
    (error: unknown) => {
      throw error instanceof Problem ? new RefusedRights(error.faults.map((fault) => ({ path: `profiles/${name}`, fault }))) : error;
    },
  );
  await updateProfile(trx, id, { label, locale, roleIds, attributes });
  const detail = isNew ? { profile: name, roles } : { profile: name, label, locale, roles, attributes: names };
  await recordChange(trx, actor, { event: isNew ? 'profile.created' : 'profile.updated', detail });
}
