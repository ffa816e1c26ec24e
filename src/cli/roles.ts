/** `role …`: named sets of grants. */
import { Option, type Command } from 'commander';
import { AttributeRegistry } from '../accounts/attribute-registry.ts';
import { listAllRoles, type PlainCondition, type RoleState } from '../accounts/roles.ts';
import type { Changed } from '../administration/changed.ts';
import { createRole, deleteRole, grantActions, grantByRule, revokeActions } from '../administration/roles/use-cases.ts';
import { TypeRegistry } from '../entity-types/registry.ts';
import { companionsForLists, typesForRules } from '../entity-types/types-for-rules.ts';
import { Problem } from '../problems/errors.ts';
import { claimTypes } from '../oidc/provisioning/claimed-rights.ts';
import { readIssuers } from '../oidc/issuers-file/read.ts';
import type { Action } from '../rights/vocabulary.ts';
import { actionList, entityList, roleOrProfileName, ruleName, shownText } from './arguments.ts';
import { addGroup, addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { changeRights } from './own-rights.ts';
import { Refusal, tableText, type CommandOutcome } from './output.ts';
import { readRuleFile, ruleRefusal } from './rule-file.ts';

interface GrantTargets {
  /** Entity names. */
  entity: string[];
  actions: Action[];
}

interface GrantOptions extends GrantTargets {
  condition?: PlainCondition;
  /** A file. */
  rule?: string;
  /** Of the rule. */
  name?: string;
  force?: true;
  allowSlow?: true;
}

interface RevokeOptions extends GrantTargets {
  name?: string;
  plain?: true;
}

export function roleCommands(program: Command, desk: Desk): void {
  const roles = addGroup(program, 'role', 'roles: what their holders may do', [
    'role create editor',
    'role grant editor --entity customer --actions read,update',
  ]);
  addCommand(roles, 'create', 'create a role, which grants nothing yet', ['role create editor --description "Keeps customers up to date"'])
    .argument('<name>', 'the name of the role', roleOrProfileName)
    .option('--description <text>', 'what it is for', shownText)
    .action((name: string, options: Shown & { description?: string }) =>
      changeRights(desk, options, (admin) => create(admin, name, options.description ?? '')),
    );
  addCommand(roles, 'grant', 'let a role do something', [
    'role grant editor --entity customer,order --actions create,read,update',
    "role grant member --entity '*' --actions read,update --condition own",
    'role grant clerk --entity order --actions read --name region --rule rule.json',
  ])
    .argument('<name>', 'the role', roleOrProfileName)
    .requiredOption('--entity <list>', "entity names, with commas between, or '*' for every one", entityList)
    .requiredOption(
      '--actions <list>',
      'some of create,read,update,delete, type: to declare entity types, purge: to remove for good, and label: to refer to entities',
      actionList,
    )
    .addOption(new Option('--condition <condition>', 'on any row, or on own rows only (default: any)').choices(['any', 'own']))
    .option('--rule <file>', 'on the rows and fields of a rule, from a file of JSON or YAML, or - for standard input')
    .option('--name <name>', 'what the rule is called (default: digits of its digest)', ruleName)
    .option('--force', 'also what a running process of an older version refuses')
    .option('--allow-slow', 'also a rule that no index serves and that covers less than 1 % of many entities')
    .action((name: string, options: Shown & GrantOptions) => changeRights(desk, options, (admin) => grant(admin, name, options)));
  addCommand(roles, 'revoke', 'take from a role what it was granted', [
    'role revoke editor --entity customer --actions update',
    'role revoke clerk --entity order --actions read --name region',
  ])
    .argument('<name>', 'the role', roleOrProfileName)
    .requiredOption('--entity <list>', "the entity names, or '*', as they were granted", entityList)
    .requiredOption('--actions <list>', 'some of create,read,update,delete,type,purge,label', actionList)
    .option('--name <name>', 'what the rule of this name grants', ruleName)
    .option('--plain', 'what is granted without a rule, although rules grant it too')
    .action((name: string, options: Shown & RevokeOptions) => changeRights(desk, options, (admin) => revoke(admin, name, options)));
  addCommand(roles, 'delete', 'delete a role that no profile has', ['role delete editor'])
    .argument('<name>', 'the role', roleOrProfileName)
    .action((name: string, options: Shown) => changeRights(desk, options, (admin) => remove(admin, name)));
  addCommand(roles, 'list', 'list all roles and what they grant', ['role list', 'role list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listAllRoles(db);
      return { document: rows, text: describeRoles(rows) };
    }),
  );
}

/** A line for each entity and condition; the first line of a role has its name and description. */
function describeRoles(rows: readonly RoleState[]): string {
  const cells = rows.flatMap(({ name, description, grants, rules }) => {
    const conditions = [...grants, ...rules.map((rule) => ({ ...rule, condition: `rule ${rule.name}` }))];
    const [first, ...others] = conditions.map(({ entity, actions, condition }) => [entity, actions.join(','), condition]);
    const head = first ? [name, ...first, description] : [name, '-', '-', '-', description];
    return [head, ...others.map((line) => [''].concat(line))];
  });
  return tableText(['NAME', 'ENTITY', 'ACTIONS', 'CONDITION', 'DESCRIPTION'], cells, 'There are no roles yet.');
}

function outcomeOf({ state, changed }: Changed<RoleState>, text: string): CommandOutcome {
  return { document: { ...state, changed }, text };
}

async function create({ store, by }: Admin, name: string, description: string): Promise<CommandOutcome> {
  return outcomeOf({ state: await createRole(store, by, { name, description }), changed: true }, `Created the role ${name}.`);
}

async function grant(admin: Admin, name: string, options: GrantOptions): Promise<CommandOutcome> {
  const { entity: entities, actions, condition = 'any', rule, force = false } = options;
  if (rule !== undefined) return await grantRule(admin, name, rule, options);
  if (options.name !== undefined) throw new Refusal('--name is what a rule is called: give --rule too', 2);
  if (condition === 'own' && actions.includes('type'))
    throw new Refusal('the action "type" concerns a name and no rows: grant it without --condition own', 2);
  const outcome = await grantActions(admin.store, admin.by, name, { entities, actions, condition, force });
  const what = `${actions.join(', ')} on ${condition === 'own' ? 'own rows of ' : ''}${entities.map(place).join(', ')}`;
  const beside = outcome.state.rules.filter((each) => isAbout(each, options)).map((each) => `${each.name} of ${place(each.entity)}`);
  const note = `the rules of the role stay beside it: ${beside.join(', ')}`;
  const told = outcomeOf(outcome, outcome.changed ? `The role ${name} grants ${what}.` : `The role ${name} granted ${what} already.`);
  return { ...told, ...(beside.length > 0 && { note }) };
}

async function grantRule({ desk, store, by, config }: Admin, role: string, file: string, options: GrantOptions): Promise<CommandOutcome> {
  const { entity: entities, actions, condition, name, force = false, allowSlow = false } = options;
  if (condition !== undefined) throw new Refusal('a grant has a --condition or a --rule, and not both', 2);
  if (actions.includes('type')) throw new Refusal('the action "type" concerns a name and no rows: grant it without --rule', 2);
  const document = await readRuleFile(desk, file);
  const attributes = new AttributeRegistry(store.db, claimTypes(await readIssuers(config.issuersFile, desk.environment())));
  const types = new TypeRegistry(store.db, config);
  const sources = {
    typeOf: typesForRules(types),
    companionOf: companionsForLists(types),
    variableTypes: () => attributes.variableTypes(),
    variablesOfUsers: () => attributes.variablesOfUsers(),
  };
  const outcome = await grantByRule(store, by, role, { entities, actions, name, document, force, allowSlow, sources }).catch(
    (error: unknown) => {
      throw error instanceof Problem ? ruleRefusal(error) : error;
    },
  );
  const what = `${actions.join(', ')} on ${entities.map(place).join(', ')} by ${name === undefined ? 'the rule' : `the rule ${name}`}`;
  const wide = outcome.state.grants.filter((each) => each.condition === 'any' && isAbout(each, options)).map((each) => place(each.entity));
  const note = `the role grants it on any row of ${wide.join(', ')} besides, so the rule narrows nothing: take that away with "role revoke … --plain"`;
  const told = outcomeOf(outcome, outcome.changed ? `The role ${role} grants ${what}.` : `The role ${role} granted ${what} already.`);
  return { ...told, ...(wide.length > 0 && { note }) };
}

/** Whether the grant is one of the actions on one of the names. */
function isAbout(granted: { entity: string; actions: readonly Action[] }, { entity, actions }: GrantTargets): boolean {
  return entity.includes(granted.entity) && actions.some((action) => granted.actions.includes(action));
}

function place(entity: string): string {
  return entity === '*' ? 'every entity' : entity;
}

async function revoke({ store, by }: Admin, name: string, options: RevokeOptions): Promise<CommandOutcome> {
  const { entity: entities, actions, name: rule, plain } = options;
  if (rule !== undefined && plain) throw new Refusal('--plain is for grants without a rule: give it or --name', 2);
  const of = rule === undefined ? (plain ? 'plain' : undefined) : { rule };
  const outcome = await revokeActions(store, by, name, { entities, actions, of });
  const wide = outcome.state.grants.filter(({ entity }) => entity === '*').flatMap((each) => each.actions);
  const kept = wide.filter((action) => actions.includes(action));
  const still = `the role "${name}" grants ${kept.join(', ')} on every entity, ${entities.join(', ')} included; take that away with --entity '*'`;
  // There was nothing to revoke, and the right remains. "Done" would be misleading.
  if (!outcome.changed && kept.length > 0) throw new Refusal(still);
  const lines = outcome.revoked.map(({ entity, actions: revoked }) =>
    revoked.length > 0
      ? `Revoked ${revoked.join(', ')} on ${place(entity)} from the role ${name}.`
      : `The role ${name} did not grant ${actions.join(', ')} on ${place(entity)}.`,
  );
  return { ...outcomeOf(outcome, lines.join('\n')), ...(kept.length > 0 && { note: still }) };
}

async function remove({ store, by }: Admin, name: string): Promise<CommandOutcome> {
  await deleteRole(store, by, name);
  return { document: { name, changed: true }, text: `Deleted the role ${name}.` };
}
