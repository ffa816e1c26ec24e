/** All grants of a role at once, and the locks of a change of many roles and profiles. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { SingleGrant } from '../rights/documents.ts';
import { canonicalText } from '../rights/rule-document.ts';

/**
 * Holds up all other changes of roles, profiles and attributes until the transaction ends. Rows come before tables: a change that has locked a row may need the
 * table, and one that waits for a row has nothing that this transaction needs.
 */
export async function lockRights(trx: Transaction<Database>): Promise<void> {
  for (const table of ['role', 'profile']) await sql`select from ${sql.table(table)} order by id for no key update`.execute(trx);
  await sql`select from attribute order by owner, name for no key update`.execute(trx);
  await sql`lock table role, role_grant, profile, profile_role, attribute in share row exclusive mode`.execute(trx);
}

const idOf = ({
  entity,
  action,
  condition,
  name = null,
}: Pick<SingleGrant, 'entity' | 'action' | 'condition'> & { name?: string | null | undefined }) =>
  JSON.stringify([entity, action, condition, name]);

/** Gives the role exactly the grants. Returns those that it did not have so before, and those that it had. The caller must have locked the role. */
export async function replaceGrants(
  trx: Transaction<Database>,
  roleId: string,
  grants: readonly SingleGrant[],
): Promise<Record<'granted' | 'revoked', Omit<SingleGrant, 'rule'>[]>> {
  const rows = await trx.selectFrom('role_grant').where('role_id', '=', roleId).select(['entity', 'action', 'condition', 'name']).execute();
  const [present, wanted] = [new Set(rows.map(idOf)), new Set(grants.map(idOf))];
  const revoked = rows.filter((row) => !wanted.has(idOf(row))).map((row) => Object.assign({}, row, { name: row.name ?? undefined }));
  const granted = grants.filter((grant) => !present.has(idOf(grant)));
  for (const { entity, action, condition } of revoked)
    await trx
      .deleteFrom('role_grant')
      .where('role_id', '=', roleId)
      .where('entity', '=', entity)
      .where('action', '=', action)
      .where('condition', '=', condition)
      .execute();
  for (const { condition, rule, name } of granted)
    if (rule && name !== undefined)
      await trx
        .insertInto('grant_rule')
        .values({ digest: condition, document: canonicalText(rule) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  if (granted.length > 0)
    await trx
      .insertInto('role_grant')
      .values(granted.map(({ entity, action, condition, name = null }) => ({ role_id: roleId, entity, action, condition, name })))
      .execute();
  return { granted, revoked };
}
