/** `profile …`: named sets of roles under which users work. */
import type { Command } from 'commander';
import { listAllProfiles } from '../accounts/assignments.ts';
import { createProfile } from '../administration/profiles.ts';
import { localeTag, roleNames, roleOrProfileName, shownText } from './arguments.ts';
import { group, leaf, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { roleCalled } from './find.ts';
import { Refusal, table, type Outcome } from './output.ts';

interface NewProfileOptions {
  label: string;
  roles: string[];
  locale?: string;
}

export function profileCommands(program: Command, desk: Desk): void {
  const profiles = group(program, 'profile', 'profiles: the roles that somebody works under', [
    'profile create sales --label Sales --roles editor',
  ]);
  leaf(profiles, 'create', 'create a profile', ['profile create sales --label Sales --roles editor,member'])
    .argument('<name>', 'the name of the profile', roleOrProfileName)
    .requiredOption('--label <text>', 'what people read', shownText)
    .requiredOption('--roles <list>', 'names of its roles, with commas between', roleNames)
    .option('--locale <tag>', 'language a session takes when it switches to the profile', localeTag)
    .action((name: string, options: Shown & NewProfileOptions) => onDatabase(desk, options, (admin) => create(admin, name, options)));
  leaf(profiles, 'list', 'list all profiles', ['profile list', 'profile list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listAllProfiles(db);
      const cells = rows.map((row) => [row.name, row.label, row.roles.join(', ') || '-', row.locale ?? '-']);
      return { document: rows, text: table(['NAME', 'LABEL', 'ROLES', 'LOCALE'], cells, 'There are no profiles yet.') };
    }),
  );
}

async function create({ actor, store }: Admin, name: string, { label, locale, roles: names }: NewProfileOptions): Promise<Outcome> {
  const roles = await Promise.all(names.map((role) => roleCalled(store.db, role)));
  const id = await createProfile(store, actor, { name, label, locale: locale ?? null, roles });
  if (id === undefined) throw new Refusal(`there is already a profile called "${name}"`);
  const [row] = await listAllProfiles(store.db, id);
  return { document: { ...row, changed: true }, text: `Created the profile ${name}.` };
}
