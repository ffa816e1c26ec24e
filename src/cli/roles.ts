/** `role …`: named sets of grants. */
import { Option, type Command } from 'commander';
import type { Action, Condition } from '../rights/vocabulary.ts';
import type { Changed } from '../administration/changed.ts';
import { createRole, deleteRole, grantActions, revokeActions } from '../administration/roles/use-cases.ts';
import { listAllRoles, type RoleState } from '../accounts/roles.ts';
import { actionList, entityList, roleOrProfileName, shownText } from './arguments.ts';
import { addGroup, addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { Refusal, tableText, type CommandOutcome } from './output.ts';

interface GrantOptions {
  /** Entity names. */
  entity: string[];
  actions: Action[];
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
      onDatabase(desk, options, (admin) => create(admin, name, options.description ?? '')),
    );
  addCommand(roles, 'grant', 'let a role do something', [
    'role grant editor --entity customer,order --actions create,read,update',
    "role grant member --entity '*' --actions read,update --condition own",
  ])
    .argument('<name>', 'the role', roleOrProfileName)
    .requiredOption('--entity <list>', "entity names, with commas between, or '*' for every one", entityList)
    .requiredOption(
      '--actions <list>',
      'some of create,read,update,delete, type: to declare entity types, purge: to remove for good, and label: to refer to entities',
      actionList,
    )
    .addOption(new Option('--condition <condition>', 'on any row, or on own rows only').choices(['any', 'own']).default('any'))
    .action((name: string, options: Shown & GrantOptions & { condition: Condition }) =>
      onDatabase(desk, options, (admin) => grant(admin, name, options)),
    );
  addCommand(roles, 'revoke', 'take from a role what it was granted', ['role revoke editor --entity customer --actions update'])
    .argument('<name>', 'the role', roleOrProfileName)
    .requiredOption('--entity <list>', "the entity names, or '*', as they were granted", entityList)
    .requiredOption('--actions <list>', 'some of create,read,update,delete,type,purge,label', actionList)
    .action((name: string, options: Shown & GrantOptions) => onDatabase(desk, options, (admin) => revoke(admin, name, options)));
  addCommand(roles, 'delete', 'delete a role that no profile has', ['role delete editor'])
    .argument('<name>', 'the role', roleOrProfileName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => remove(admin, name)));
  addCommand(roles, 'list', 'list all roles and what they grant', ['role list', 'role list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listAllRoles(db);
      return { document: rows, text: describeRoles(rows) };
    }),
  );
}

/** A line for each entity and condition; the first line of a role has its name and description. */
function describeRoles(rows: readonly RoleState[]): string {
  const cells = rows.flatMap(({ name, description, grants }) => {
    const [first, ...others] = grants.map(({ entity, actions, condition }) => [entity, actions.join(','), condition]);
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

async function grant(
  { store, by }: Admin,
  name: string,
  { entity: entities, actions, condition }: GrantOptions & { condition: Condition },
): Promise<CommandOutcome> {
  if (condition === 'own' && actions.includes('type'))
    throw new Refusal('the action "type" concerns a name and no rows: grant it without --condition own', 2);
  const outcome = await grantActions(store, by, name, { entities, actions, condition });
  const what = `${actions.join(', ')} on ${condition === 'own' ? 'own rows of ' : ''}${entities.map(place).join(', ')}`;
  return outcomeOf(outcome, outcome.changed ? `The role ${name} grants ${what}.` : `The role ${name} granted ${what} already.`);
}

function place(entity: string): string {
  return entity === '*' ? 'every entity' : entity;
}

async function revoke({ store, by }: Admin, name: string, { entity: entities, actions }: GrantOptions): Promise<CommandOutcome> {
  const outcome = await revokeActions(store, by, name, { entities, actions });
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
