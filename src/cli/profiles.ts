/** `profile …`: named sets of roles under which users work. */
import type { Command } from 'commander';
import { listAllProfiles } from '../accounts/assignments.ts';
import { changeProfile, createProfile, removeUnusedProfile } from '../administration/profiles/use-cases.ts';
import { localeTag, roleNames, roleOrProfileName, shownText } from './arguments.ts';
import { addGroup, addCommand, onDatabase, requireChange, type Admin, type Desk, type Shown } from './command.ts';
import { profileCalled, roleCalled } from './find.ts';
import { listText, Refusal, tableText, type CommandOutcome } from './output.ts';

interface NewProfileOptions {
  label: string;
  roles: string[];
  locale?: string;
}

interface ProfileChanges {
  label?: string;
  roles?: string[];
  /** False for --no-locale. */
  locale?: string | false;
}

export function profileCommands(program: Command, desk: Desk): void {
  const profiles = addGroup(program, 'profile', 'profiles: named sets of roles', ['profile create sales --label Sales --roles editor']);
  addCommand(profiles, 'create', 'create a profile', ['profile create sales --label Sales --roles editor,member'])
    .argument('<name>', 'the name of the profile', roleOrProfileName)
    .requiredOption('--label <text>', 'what people read', shownText)
    .requiredOption('--roles <list>', 'names of its roles, with commas between', roleNames)
    .option('--locale <tag>', 'language a session takes when it switches to the profile', localeTag)
    .action((name: string, options: Shown & NewProfileOptions) => onDatabase(desk, options, (admin) => create(admin, name, options)));
  addCommand(profiles, 'update', 'change the label, the roles or the locale of a profile', [
    'profile update sales --label "Sales and service" --roles editor,member',
    'profile update sales --no-locale',
  ])
    .argument('<name>', 'the profile', roleOrProfileName)
    .option('--label <text>', 'what people read', shownText)
    .option('--roles <list>', 'names of its roles, in place of the present ones', roleNames)
    .option('--locale <tag>', 'language a session takes when it switches to the profile', localeTag)
    .option('--no-locale', 'such a session keeps its own language')
    .action(async (name: string, options: Shown & ProfileChanges) => {
      requireChange(options, '--label, --roles, --locale or --no-locale');
      await onDatabase(desk, options, (admin) => update(admin, name, options));
    });
  addCommand(profiles, 'delete', 'delete a profile that no user and no live API key has', ['profile delete sales'])
    .argument('<name>', 'the profile', roleOrProfileName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => remove(admin, name)));
  addCommand(profiles, 'list', 'list all profiles', ['profile list', 'profile list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listAllProfiles(db);
      const cells = rows.map((row) => [row.name, row.label, row.roles.join(', ') || '-', row.locale ?? '-']);
      return { document: rows, text: tableText(['NAME', 'LABEL', 'ROLES', 'LOCALE'], cells, 'There are no profiles yet.') };
    }),
  );
}

async function create({ actor, store }: Admin, name: string, { label, locale, roles: names }: NewProfileOptions): Promise<CommandOutcome> {
  const roles = await Promise.all(names.map((role) => roleCalled(store.db, role)));
  const id = await createProfile(store, actor, { name, label, locale: locale ?? null, roles });
  if (id === undefined) throw new Refusal(`there is already a profile called "${name}"`);
  const [row] = await listAllProfiles(store.db, id);
  return { document: { ...row, changed: true }, text: `Created the profile ${name}.` };
}

async function update({ actor, store }: Admin, name: string, { label, locale, roles: names }: ProfileChanges): Promise<CommandOutcome> {
  const profile = await profileCalled(store.db, name);
  const roles = names && (await Promise.all(names.map((role) => roleCalled(store.db, role))));
  const changed = await changeProfile(store, actor, profile, { label, locale: locale === false ? null : locale, roles });
  const [row] = await listAllProfiles(store.db, profile.id);
  return {
    document: { ...row, changed },
    text: changed ? `Changed the profile ${name}.` : `Unchanged: the profile ${name}.`,
  };
}

async function remove({ actor, store }: Admin, name: string): Promise<CommandOutcome> {
  const profile = await profileCalled(store.db, name);
  const use = await removeUnusedProfile(store, actor, profile);
  if (use && use.users.length > 0) {
    throw new Refusal(`users have the profile "${name}": ${listText(use.users)}; take it from them first, with "user profile remove"`);
  }
  if (use) throw new Refusal(`API keys are bound to the profile "${name}": ${listText(use.keys)}; end them first, with "key revoke"`);
  return { document: { name, changed: true }, text: `Deleted the profile ${name}.` };
}
