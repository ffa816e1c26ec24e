/** The grants of roles that have a rule. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import { canonicalText, digestOfRule } from '../rights/rule-document.ts';
import type { RuleDocument } from '../rights/rule.ts';
import type { Action, RuleDigest } from '../rights/vocabulary.ts';

/** The most rules that one role or profile may have for one action on one name, those on `*` included. */
const maximumRules = 8;
/** Digits of the digest that are the name of a rule without one. */
const shortDigest = 12;

interface RuleRow {
  action: Action;
  condition: RuleDigest;
  name: string;
}

export interface RuleGrant {
  entity: string;
  actions: readonly Action[];
  /** Undefined: the name that the role has for this rule already, or the first digits of its digest. */
  name: string | undefined;
  document: RuleDocument;
}

export interface GrantedRule {
  name: string;
  digest: RuleDigest;
  /** The actions that were not granted so before. */
  granted: Action[];
  /** The rule that had the name before, if that was another one. */
  replaced: { digest: RuleDigest; actions: Action[] } | undefined;
}

/**
 * Grants each of `actions` on `entity` (or `*`) by the rule. A rule of the same name is replaced, if `actions` has all of its actions. Throws 409 `conflict`
 * if it has not, and if the role has the same rule under another name. The caller must have locked the role, and then calls {@link assertFewRules}.
 */
export async function insertRuleGrants(
  trx: Transaction<Database>,
  roleId: string,
  { entity, actions, name: wanted, document }: RuleGrant,
): Promise<GrantedRule> {
  const digest = digestOfRule(document);
  const rows = (await rulesOf(trx, roleId, entity).execute()) as RuleRow[];
  const name = wanted ?? rows.find(({ condition }) => condition === digest)?.name ?? digest.slice(0, shortDigest);
  const others = rows.filter((row) => row.name === name && row.condition !== digest);
  const isSame = (row: RuleRow) => row.name !== name && row.condition === digest && actions.includes(row.action);
  if (others.some(({ action }) => !actions.includes(action)) || rows.some(isSame))
    throw new Problem('conflict', { faults: [{ code: 'taken', pointer: '/name', values: { rule: rows.find(isSame)?.name ?? name } }] });
  const [other] = others;
  const replaced = other && { digest: other.condition, actions: await deleteNamed(trx, roleId, { entity, name, actions }) };
  await trx
    .insertInto('grant_rule')
    .values({ digest, document: canonicalText(document) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const inserted = await trx
    .insertInto('role_grant')
    .values(actions.map((action) => ({ role_id: roleId, entity, action, condition: digest, name })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('action')
    .execute();
  return { name, digest, granted: inserted.map(({ action }) => action), replaced };
}

/** Revokes what the rule of the name grants of `actions`; undefined if that is nothing. */
export async function deleteRuleGrants(
  trx: Transaction<Database>,
  roleId: string,
  named: { entity: string; name: string; actions: readonly Action[] },
): Promise<{ digest: RuleDigest; actions: Action[] } | undefined> {
  const row = (await rulesOf(trx, roleId, named.entity).execute()).find(({ name }) => name === named.name);
  const actions = row ? await deleteNamed(trx, roleId, named) : [];
  return row && actions.length > 0 ? { digest: row.condition, actions } : undefined;
}

/** The names of the rules that grant any of `actions` on `entity`. */
export async function listRuleNames(db: Kysely<Database>, roleId: string, entity: string, actions: readonly Action[]): Promise<string[]> {
  const rows = await rulesOf(db, roleId, entity).where('action', 'in', actions).execute();
  return [...new Set(rows.flatMap(({ name }) => name ?? []))];
}

const rulesOf = (db: Kysely<Database>, roleId: string, entity: string) =>
  db
    .selectFrom('role_grant')
    .where('role_id', '=', roleId)
    .where('entity', '=', entity)
    .where('name', 'is not', null)
    .select(['action', 'condition', 'name'])
    .orderBy('name');

async function deleteNamed(
  trx: Transaction<Database>,
  roleId: string,
  { entity, name, actions }: { entity: string; name: string; actions: readonly Action[] },
): Promise<Action[]> {
  const rows = await trx
    .deleteFrom('role_grant')
    .where('role_id', '=', roleId)
    .where('entity', '=', entity)
    .where('name', '=', name)
    .where('action', 'in', actions)
    .returning('action')
    .execute();
  return rows.map(({ action }) => action);
}

/**
 * Holds up other transactions that grant rules or give roles to profiles, until this one ends. Call it after the role is locked and before {@link assertFewRules},
 * or two transactions could each add the eighth rule.
 */
export async function lockRuleCounts(trx: Transaction<Database>): Promise<void> {
  await sql`lock table profile_role in share row exclusive mode`.execute(trx);
}

/**
 * Throws 422 `validation-failed` with `too-many-tests` if the role, a profile that has it, or the profile has more than eight rules for an action on a name.
 */
export async function assertFewRules(db: Kysely<Database>, of: { role: string } | { profile: string }): Promise<void> {
  if ('role' in of) assertFew('role', await rowsOfRole(db, of.role));
  for (const rows of Map.groupBy(await rowsOfProfiles(db, of), ({ holder }) => holder).values()) assertFew('profile', rows);
}

interface CountedRule {
  holder: string;
  entity: string;
  action: Action;
  condition: RuleDigest;
}

const rowsOfRole = (db: Kysely<Database>, id: string): Promise<CountedRule[]> =>
  db
    .selectFrom('role_grant')
    .innerJoin('role', 'role.id', 'role_id')
    .where('role.id', '=', id)
    .where('role_grant.name', 'is not', null)
    .select(['role.name as holder', 'entity', 'action', 'condition'])
    .execute();

const rowsOfProfiles = (db: Kysely<Database>, of: { role: string } | { profile: string }): Promise<CountedRule[]> =>
  db
    .selectFrom('role_grant')
    .innerJoin('profile_role', 'profile_role.role_id', 'role_grant.role_id')
    .innerJoin('profile', 'profile.id', 'profile_id')
    .where('role_grant.name', 'is not', null)
    .where((eb) =>
      'profile' in of
        ? eb('profile.id', '=', of.profile)
        : eb('profile.id', 'in', eb.selectFrom('profile_role as having').where('having.role_id', '=', of.role).select('having.profile_id')),
    )
    .select(['profile.name as holder', 'entity', 'action', 'condition'])
    .execute();

/** Throws as {@link assertFewRules} for the rules of roles or profiles. Rules for `*` count for every name. */
export function assertFew(kind: 'role' | 'profile', rows: readonly CountedRule[]): void {
  for (const { holder, entity, action } of rows) {
    const counted = rows.filter((row) => row.action === action && (row.entity === entity || row.entity === '*'));
    const digests = new Set(counted.map((row) => `${row.entity} ${row.condition}`));
    if (digests.size <= maximumRules) continue;
    const values = { [kind]: holder, rules: `${action} ${entity}`, limit: maximumRules };
    throw new Problem('validation-failed', { faults: [{ pointer: '', code: 'too-many-tests', values }] });
  }
}

/** The rules of a profile for one action on a name, or those of them that have one of the digests: at most five. */
export function listRuleGrants(
  db: Kysely<Database>,
  profileId: string,
  { entity, action, digests }: { entity: string; action: Action; digests?: readonly string[] | undefined },
): Promise<{ role: string; grant: string }[]> {
  return db
    .selectFrom('profile_role')
    .innerJoin('role', 'role.id', 'profile_role.role_id')
    .innerJoin('role_grant', 'role_grant.role_id', 'role.id')
    .where('profile_role.profile_id', '=', profileId)
    .where('entity', 'in', [entity, '*'])
    .where('action', '=', action)
    .where('role_grant.name', 'is not', null)
    .$if(digests !== undefined, (query) => query.where(sql<boolean>`condition = any(${digests})`))
    .select(['role.name as role', 'role_grant.name as grant'])
    .orderBy('role')
    .orderBy('grant')
    .limit(5)
    .$narrowType<{ grant: string }>()
    .execute();
}
