/**
 * Changes of roles, each in one transaction with its audit event (rule 85). The database notifies the services at commit (`0005-principal-notices.sql`), so
 * a change affects the next request (rule 62). Each function that takes the name of an existing role throws 404 `not-found`.
 */
import type { Transaction } from 'kysely';
import { lockDeclaredTypes } from '../../accounts/attributes.ts';
import { getNamedRow, type NamedRow } from '../../accounts/named-rows.ts';
import {
  assertFewRules,
  deleteRuleGrants,
  insertRuleGrants,
  listRuleNames,
  lockRuleCounts,
  type GrantedRule,
} from '../../accounts/role-rules.ts';
import {
  deleteGrants,
  deleteUnusedRole,
  getRoleState,
  insertGrants,
  insertRole,
  type PlainCondition,
  type RoleState,
} from '../../accounts/roles.ts';
import { recordChange } from '../../audit/actor.ts';
import type { RuleSources } from '../../authn/rule-book.ts';
import { assertKnownByAll } from '../../database/older-processes.ts';
import type { Store } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import type { Companion } from '../../entities/companion/layout.ts';
import type { Variables, VariableTypes } from '../../filter/variables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Owner } from '../../rights/administration.ts';
import { faultsOfBinding, readRuleDocument, variablesIn, type GrantTarget } from '../../rights/rule-document.ts';
import { bindRule, envelopeFields, type RuleDocument } from '../../rights/rule.ts';
import type { Action } from '../../rights/vocabulary.ts';
import type { Changed } from '../changed.ts';
import { assertServed } from './slow-rules.ts';

/** Creates a role without grants. Throws 409 `conflict` if there is a role of that name. */
export function createRole(
  store: Store,
  { actor }: Owner,
  { name, description }: Pick<RoleState, 'name' | 'description'>,
): Promise<RoleState> {
  return store.transaction(async (trx) => {
    const id = await insertRole(trx, name, description);
    await recordChange(trx, actor, { event: 'role.created', detail: { role: name } });
    return await getRoleState(trx, id);
  });
}

/** The actions that a role is to grant. */
export interface WantedGrant {
  /** Names of entities, or `*`. */
  entities: readonly string[];
  actions: readonly Action[];
  /** Grants also what a running process of an older version cannot enforce. Otherwise that is 409 `older-version`. */
  force?: boolean;
}

/** Grants the actions on each of `entities`. Each entity's change is an event of its own. Rules of the role stay. */
export function grantActions(
  store: Store,
  { actor }: Owner,
  name: string,
  { entities, actions, condition, force = false }: WantedGrant & { condition: PlainCondition },
): Promise<Changed<RoleState>> {
  return store.transaction(async (trx) => {
    const { id } = await getNamedRow(trx, 'role', name, 'no key update');
    if (!force) await assertKnownByAll(trx, actions.includes('label') ? ['label'] : []);
    let changed = false;
    for (const entity of entities) {
      const granted = await insertGrants(trx, id, { entity, actions, condition });
      if (granted.length === 0) continue;
      changed = true;
      await recordChange(trx, actor, { event: 'role.granted', detail: { role: name, entity, actions: granted, condition } });
    }
    return { state: await getRoleState(trx, id), changed };
  });
}

/** The types and variables that a rule is bound to. */
export interface BindingSources extends Pick<RuleSources, 'typeOf'> {
  variableTypes: () => Promise<VariableTypes>;
  /** The companion table that lists of the name may read. */
  companionOf: (name: string) => Promise<Companion | undefined>;
  /** The variables of some users. */
  variablesOfUsers: () => Promise<Variables[]>;
}

/** A rule as an administrator writes it. */
export interface WantedRule extends WantedGrant {
  /** As {@link RuleGrant.name}. */
  name: string | undefined;
  document: unknown;
  sources: BindingSources;
  /** Grants `read` and `label` also by a rule by which lists are mostly empty, since no index serves it. Otherwise that is 422 with `needs-index`. */
  allowSlow?: boolean;
}

/**
 * Grants the actions on each of `entities` by the rule, which has to fit their types. Throws 422 `validation-failed` with the faults of the rule, or with
 * `too-many-tests` for more than eight rules, and 409 `conflict` if the name stands for another rule (see {@link insertRuleGrants}). Each entity's change is an
 * event of its own.
 */
export async function grantByRule(
  store: Store,
  { actor }: Owner,
  role: string,
  { entities, actions, force = false, name, document: value, sources, allowSlow = false }: WantedRule,
): Promise<Changed<RoleState>> {
  const documents = new Map<string, RuleDocument>();
  for (const entity of entities) {
    const { document, filter } = await bindableRule(value, { entity, actions }, sources);
    documents.set(entity, document);
    const isListed = entity !== '*' && actions.some((action) => action === 'read' || action === 'label');
    if (!isListed || allowSlow || !filter) continue;
    const [companion, users] = [await sources.companionOf(entity), await sources.variablesOfUsers()];
    await store.runLong((db) => assertServed(db, { entity, filter, companion, users }));
  }
  return await store.transaction(async (trx) => {
    const { id } = await getNamedRow(trx, 'role', role, 'no key update');
    if (!force) await assertKnownByAll(trx, actions.includes('label') ? ['rule', 'label'] : ['rule']);
    await lockRuleCounts(trx);
    let changed = false;
    for (const [entity, document] of documents) {
      await lockAttributes(trx, entity, document);
      const granted = await insertRuleGrants(trx, id, { entity, actions, name, document });
      if (granted.granted.length === 0) continue;
      changed = true;
      for (const { event, detail } of eventsOf(granted)) await recordChange(trx, actor, { event, detail: { role, entity, ...detail } });
    }
    await assertFewRules(trx, { role: id });
    return { state: await getRoleState(trx, id), changed };
  });
}

function eventsOf({ name, digest, granted, replaced }: GrantedRule): { event: 'role.granted' | 'role.revoked'; detail: object }[] {
  const revoked = replaced ? [{ event: 'role.revoked' as const, detail: { actions: replaced.actions, name, rule: replaced.digest } }] : [];
  return [...revoked, { event: 'role.granted', detail: { actions: granted, name, rule: digest } }];
}

/** The rule for the entities of one name, and the rows that it covers, as their type and the variables are now. The problem names the entities in its `audit`. */
async function bindableRule(value: unknown, target: GrantTarget, { typeOf, variableTypes }: BindingSources) {
  const read = readRuleDocument(value, target);
  const audit = { entity: target.entity };
  if ('faults' in read) throw new Problem('validation-failed', { faults: read.faults, audit });
  const type = target.entity === '*' ? { fields: envelopeFields } : await typeOf(target.entity, read.document);
  const scope = { ...type, variables: await variableTypes() };
  const faults = faultsOfBinding(read.document, target, scope);
  if (faults.length > 0) throw new Problem('validation-failed', { faults, audit });
  const bound = bindRule(read.document, 'read', scope);
  return { document: read.document, filter: 'grant' in bound ? bound.grant.filter : undefined };
}

/** Throws 422 if an attribute of the rule has been removed meanwhile. None is removed before the transaction ends. */
async function lockAttributes(trx: Transaction<Database>, entity: string, document: RuleDocument): Promise<void> {
  const variables = [...variablesIn(document)].map((variable) => variable.split('.'));
  for (const owner of ['user', 'profile'] as const) {
    const names = variables.flatMap(([of, name = '']) => (of === owner && name !== 'name' ? [name] : []));
    const declared = await lockDeclaredTypes(trx, owner, names);
    if (!names.every((name) => declared.has(name)))
      throw new Problem('validation-failed', { faults: [{ pointer: '', code: 'unknown-variable' }], audit: { entity } });
  }
}

/** The part of a role that is to be revoked: the grants without a rule, or those by the rule of the name. */
export type RevokedGrants = { rule: string } | 'plain' | undefined;

/**
 * Revokes the actions on exactly each of `entities`, each with an event of its own. Returns with each, in their order, the actions that the role granted on it.
 * Without `of` there must be no rules that grant one of the actions: otherwise it throws 409 `conflict` with `used-by`, since the right would stay.
 */
export function revokeActions(
  store: Store,
  { actor }: Owner,
  name: string,
  { entities, actions, of }: { entities: readonly string[]; actions: readonly Action[]; of?: RevokedGrants },
): Promise<Changed<RoleState> & { revoked: { entity: string; actions: Action[] }[] }> {
  return store.transaction(async (trx) => {
    const { id } = await getNamedRow(trx, 'role', name, 'no key update');
    const revoked: { entity: string; actions: Action[]; rule?: { name: string; rule: string } }[] = [];
    for (const entity of entities) {
      if (of === undefined) await assertNoRules(trx, { id, name }, entity, actions);
      if (typeof of === 'object') {
        const taken = await deleteRuleGrants(trx, id, { entity, name: of.rule, actions });
        revoked.push({ entity, actions: taken?.actions ?? [], ...(taken && { rule: { name: of.rule, rule: taken.digest } }) });
      } else revoked.push({ entity, actions: await deleteGrants(trx, id, entity, actions) });
    }
    const taken = revoked.filter((each) => each.actions.length > 0);
    for (const { rule, ...each } of taken)
      await recordChange(trx, actor, { event: 'role.revoked', detail: { role: name, ...each, ...rule } });
    return { state: await getRoleState(trx, id), changed: taken.length > 0, revoked };
  });
}

async function assertNoRules(trx: Transaction<Database>, role: NamedRow, entity: string, actions: readonly Action[]): Promise<void> {
  const rules = await listRuleNames(trx, role.id, entity, actions);
  if (rules.length === 0) return;
  throw new Problem('conflict', { faults: [{ code: 'used-by', values: { role: role.name, rules: rules.join(', ') } }] });
}

/** Deletes the role with its grants. Throws 409 `conflict` while profiles have it. */
export function deleteRole(store: Store, { actor }: Owner, name: string): Promise<void> {
  return store.transaction(async (trx) => {
    await deleteUnusedRole(trx, name);
    await recordChange(trx, actor, { event: 'role.deleted', detail: { role: name } });
  });
}
