/** `profile …`: named sets of roles under which users work. */
import type { Command } from 'commander';
import { listAllProfiles } from '../accounts/assignments.ts';
import { changeProfile, createProfile, deleteProfile } from '../administration/profiles/use-cases.ts';
import { localeTag, roleNames, roleOrProfileName, shownText } from './arguments.ts';
import { attributeCell, attributeOption, readAttributes, throwRefusal, type TypedAttributes } from './attributes.ts';
import { addGroup, addCommand, onDatabase, requireChange, type Admin, type Desk, type Shown } from './command.ts';
import { changeRights } from './own-rights.ts';
import { tableText, type CommandOutcome } from './output.ts';

interface NewProfileOptions {
  label: string;
  roles: string[];
  locale?: string | null;
}

interface ProfileOptions {
  label?: string;
  roles?: string[];
  /** False for --no-locale. */
  locale?: string | false;
  attribute?: TypedAttributes;
}

export function profileCommands(program: Command, desk: Desk): void {
  const profiles = addGroup(program, 'profile', 'profiles: named sets of roles', ['profile create sales --label Sales --roles editor']);
  addCommand(profiles, 'create', 'create a profile', ['profile create sales --label Sales --roles editor,member'])
    .argument('<name>', 'the name of the profile', roleOrProfileName)
    .requiredOption('--label <text>', 'what people read', shownText)
    .requiredOption('--roles <list>', 'names of its roles, with commas between', roleNames)
    .option('--locale <tag>', 'language a session takes when it switches to the profile', localeTag)
    .action((name: string, options: Shown & NewProfileOptions) => changeRights(desk, options, (admin) => create(admin, name, options)));
  addCommand(profiles, 'update', 'change the label, the roles, the locale or attributes of a profile', [
    'profile update sales --label "Sales and service" --roles editor,member',
    'profile update sales --attribute level=2',
    'profile update sales --no-locale',
  ])
    .argument('<name>', 'the profile', roleOrProfileName)
    .option('--label <text>', 'what people read', shownText)
    .option('--roles <list>', 'names of its roles, in place of the present ones', roleNames)
    .option('--locale <tag>', 'language a session takes when it switches to the profile', localeTag)
    .option('--no-locale', 'such a session keeps its own language')
    .option(...attributeOption)
    .action(async (name: string, options: Shown & ProfileOptions) => {
      requireChange(options, '--label, --roles, --locale, --no-locale or --attribute');
      await changeRights(desk, options, (admin) => update(admin, name, options));
    });
  addCommand(profiles, 'delete', 'delete a profile that no user and no live API key has', ['profile delete sales'])
    .argument('<name>', 'the profile', roleOrProfileName)
    .action((name: string, options: Shown) => changeRights(desk, options, (admin) => remove(admin, name)));
  addCommand(profiles, 'list', 'list all profiles', ['profile list', 'profile list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listAllProfiles(db);
      const cells = rows.map((row) => [row.name, row.label, row.roles.join(', ') || '-', row.locale ?? '-', attributeCell(row.attributes)]);
      return { document: rows, text: tableText(['NAME', 'LABEL', 'ROLES', 'LOCALE', 'ATTRIBUTES'], cells, 'There are no profiles yet.') };
    }),
  );
}

async function create({ store, by }: Admin, name: string, { label, locale = null, roles }: NewProfileOptions): Promise<CommandOutcome> {
  const state = await createProfile(store, by, { name, label, locale, roles });
  return { document: { ...state, changed: true }, text: `Created the profile ${name}.` };
}

async function update(admin: Admin, name: string, { label, locale, roles, attribute }: ProfileOptions): Promise<CommandOutcome> {
  const attributes = await readAttributes(admin, 'profile', attribute);
  const change = { label, locale: locale === false ? null : locale, roles, attributes };
  const { state, changed } = await changeProfile(admin.store, admin.by, name, change).catch(throwRefusal);
  return { document: { ...state, changed }, text: `${changed ? 'Changed' : 'Unchanged:'} the profile ${name}.` };
}

async function remove({ store, by }: Admin, name: string): Promise<CommandOutcome> {
  await deleteProfile(store, by, name);
  return { document: { name, changed: true }, text: `Deleted the profile ${name}.` };
}
