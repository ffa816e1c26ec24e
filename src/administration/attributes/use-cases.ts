/**
 * Declarations of attributes, each change in one transaction with its audit event (rule 85). The database notifies the services at commit
 * (`0051-attributes.sql`), so a change affects the next request.
 */
import {
  deleteAttribute,
  deleteValues,
  listRolesUsing,
  listValues,
  upsertAttribute,
  type AttributeState,
} from '../../accounts/attributes.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Store } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import type { Owner } from '../../rights/administration.ts';
import { faultsOfValue, readAttributeType } from '../../rights/attribute-types.ts';
import { isAttributeName } from '../../rights/names.ts';
import type { Changed } from '../changed.ts';

/**
 * Declares an attribute, or gives it another type. `unfit` is the number of users or profiles whose value is not of the type and so counts as missing. Throws
 * 422 `validation-failed` for a name or schema that an attribute cannot have.
 */
export async function declareAttribute(
  store: Store,
  { actor }: Owner,
  attribute: AttributeState,
): Promise<Changed<AttributeState> & { unfit: number }> {
  const { owner, name, schema } = attribute;
  const type = readAttributeType(schema);
  if (!isAttributeName(name)) throw new Problem('validation-failed', { faults: [{ code: 'invalid-value', pointer: '/name' }] });
  if (!('scalar' in type)) throw new Problem('validation-failed', { faults: type }).under('/schema');
  return await store.transaction(async (trx) => {
    const before = await upsertAttribute(trx, attribute);
    const changed = JSON.stringify(before) !== JSON.stringify(schema);
    const detail = { owner, attribute: name, schema, ...(before !== undefined && { before }) };
    if (changed) await recordChange(trx, actor, { event: 'attribute.declared', detail });
    const values = changed && before !== undefined ? await listValues(trx, owner, name) : [];
    return { state: attribute, changed, unfit: values.filter((value) => faultsOfValue(type, value).length > 0).length };
  });
}

/**
 * Removes a declaration and the values of all `holders`, the number of users or profiles that had one. Throws 404 `not-found`, and 409 `in-use` while rules of
 * roles use it.
 */
export function removeAttribute(
  store: Store,
  { actor }: Owner,
  { owner, name }: Pick<AttributeState, 'owner' | 'name'>,
): Promise<{ holders: number }> {
  return store.transaction(async (trx) => {
    await deleteAttribute(trx, owner, name);
    // A transaction that grants such a rule has locked the declaration until its end.
    const roles = await listRolesUsing(trx, owner, name);
    if (roles.length > 0) throw new Problem('in-use', { values: { roles: roles.join(', ') } });
    const holders = await deleteValues(trx, owner, name);
    await recordChange(trx, actor, { event: 'attribute.removed', detail: { owner, attribute: name, holders } });
    return { holders };
  });
}
