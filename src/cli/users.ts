/** `user …`: users and their profiles. */
import type { Command } from 'commander';
import { listKeys } from '../api-keys/store.ts';
import { assignProfile, removeProfile } from '../administration/profiles/use-cases.ts';
import { changeUser, createUser, disableUser, enableUser, resetPassword, unlockUser } from '../administration/users/use-cases.ts';
import { findAccount, listUsers, type UserRow } from '../accounts/users.ts';
import { localeTag, newUserName, roleOrProfileName, shownText, userName } from './arguments.ts';
import { addGroup, addCommand, onDatabase, requireChange, type Admin, type Desk, type Shown } from './command.ts';
import { profileCalled, userCalled } from './find.ts';
import { printableText, Refusal, tableText, timeText, type CommandOutcome } from './output.ts';
import { takePassword } from './password.ts';

interface PasswordSource {
  passwordStdin?: true;
}

interface UserChanges {
  displayName?: string;
  /** False for --no-locale. */
  locale?: string | false;
}

interface NewUserOptions extends PasswordSource {
  displayName?: string;
  locale?: string;
}

const stdinOption = ['--password-stdin', 'read the password from standard input, less one newline at its end'] as const;
const passwordHelp =
  'The password is asked for twice, or read from standard input with --password-stdin. Without a terminal, and when nothing ' +
  'is typed, one is generated and printed this once.';

export function userCommands(program: Command, desk: Desk): void {
  const users = addGroup(program, 'user', 'users: who may sign in', ['user create ada', 'user profile add ada sales', 'user disable ada']);
  addCommand(users, 'create', 'create a user', [
    'user create ada --display-name "Ada Lovelace"',
    'user create ada --password-stdin < password.txt',
  ])
    .argument('<name>', 'the name to sign in with', newUserName)
    .option('--display-name <text>', 'what people read (default: the name as given)', shownText)
    .option('--locale <tag>', 'language of new sessions, as en or de-AT', localeTag)
    .option(...stdinOption)
    .description(`create a user\n\n${passwordHelp}`)
    .action((name: string, options: NewUserOptions & Shown) => onDatabase(desk, options, (admin) => create(admin, name, options)));
  addCommand(users, 'update', 'change the display name or the locale of a user', [
    'user update ada --display-name "Ada King"',
    'user update ada --locale de-AT',
  ])
    .argument('<name>', 'the user', userName)
    .option('--display-name <text>', 'what people read', shownText)
    .option('--locale <tag>', 'language of new sessions, as en or de-AT', localeTag)
    .option('--no-locale', 'new sessions take the language of the default profile, else English')
    .action(async (name: string, options: Shown & UserChanges) => {
      requireChange(options, '--display-name, --locale or --no-locale');
      await onDatabase(desk, options, (admin) => update(admin, name, options));
    });
  addCommand(users, 'list', 'list all users', ['user list', 'user list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listUsers(db);
      return { document: rows, text: describeUsers(rows) };
    }),
  );
  addCommand(users, 'disable', 'keep a user out and end all their sessions', ['user disable ada'])
    .argument('<name>', 'the user', userName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => disable(admin, name)));
  addCommand(users, 'enable', 'let a disabled user in again', ['user enable ada'])
    .argument('<name>', 'the user', userName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => enable(admin, name)));
  addCommand(users, 'unlock', 'forget failed sign-ins, so that the user may try again at once', ['user unlock ada'])
    .argument('<name>', 'the user', userName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => unlock(admin, name)));
  addCommand(users, 'set-password', 'set a new password and end all sessions of the user', [
    'user set-password ada',
    'user set-password ada --password-stdin < password.txt',
  ])
    .argument('<name>', 'the user', userName)
    .option(...stdinOption)
    .description(`set a new password and end all sessions of the user\n\n${passwordHelp}`)
    .action((name: string, options: PasswordSource & Shown) => onDatabase(desk, options, (admin) => setPassword(admin, name, options)));

  const profiles = addGroup(users, 'profile', 'the profiles of a user', [
    'user profile add ada sales --default',
    'user profile remove ada sales',
  ]);
  addCommand(profiles, 'add', 'give a user a profile; the first becomes the default one', ['user profile add ada sales --default'])
    .argument('<name>', 'the user', userName)
    .argument('<profile>', 'the profile', roleOrProfileName)
    .option('--default', 'make it the profile in which sessions start')
    .action((name: string, profile: string, options: Shown & { default?: true }) =>
      onDatabase(desk, options, (admin) => addProfile(admin, name, profile, options.default === true)),
    );
  addCommand(profiles, 'remove', 'take a profile from a user', ['user profile remove ada sales'])
    .argument('<name>', 'the user', userName)
    .argument('<profile>', 'the profile', roleOrProfileName)
    .action((name: string, profile: string, options: Shown) => onDatabase(desk, options, (admin) => dropProfile(admin, name, profile)));
}

function describeUsers(rows: readonly UserRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.displayName,
    row.active ? 'active' : 'disabled',
    row.profiles.map((profile) => profile.name + (profile.default ? ' (default)' : '')).join(', ') || '-',
    row.locale ?? '-',
    timeText(row.createdAt),
  ]);
  return tableText(['NAME', 'DISPLAY NAME', 'STATE', 'PROFILES', 'LOCALE', 'CREATED'], cells, 'There are no users yet.');
}

/** The outcome of a change: the user after it, whether anything changed, and further facts. */
async function outcome(
  { store: { db } }: Admin,
  id: string,
  text: string,
  more: { changed: boolean } & Record<string, unknown>,
): Promise<CommandOutcome> {
  const [row] = await listUsers(db, id);
  return { document: { ...row, ...more }, text: printableText(text) };
}

async function create(admin: Admin, given: string, options: NewUserOptions): Promise<CommandOutcome> {
  const name = userName(given);
  const displayName = options.displayName ?? given;
  const taken = new Refusal(`there is already a user called "${name}"`);
  if (await findAccount(admin.store.db, name)) throw taken;
  const { passwordHash, generated } = await takePassword(admin, { name, displayName }, options.passwordStdin === true);
  const id = await createUser(admin.store, admin.actor, { name, displayName, locale: options.locale ?? null, passwordHash });
  if (id === undefined) throw taken;
  const text = `Created the user ${name}.`;
  return withGenerated(await outcome(admin, id, text, { changed: true }), generated);
}

async function update(admin: Admin, name: string, { displayName, locale }: UserChanges): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const changed = await changeUser(admin.store, admin.actor, user, { displayName, locale: locale === false ? null : locale });
  return await outcome(admin, user.id, changed ? `Changed ${name}.` : `Unchanged: ${name}.`, { changed });
}

function withGenerated({ document, text }: CommandOutcome, generated: string | undefined): CommandOutcome {
  if (generated === undefined) return { document, text };
  return {
    document: { ...(document as object), password: generated },
    text: `${text} The password, shown this once:\n\n  ${generated}\n`,
  };
}

async function setPassword(admin: Admin, name: string, options: PasswordSource): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const { passwordHash, generated } = await takePassword(admin, user, options.passwordStdin === true);
  const endedSessions = await resetPassword(admin.store, admin.actor, user, passwordHash);
  const text = `Set a new password for ${name}. ${sessionsEnded(endedSessions)}`;
  return withGenerated(await outcome(admin, user.id, text, { changed: true, endedSessions }), generated);
}

async function disable(admin: Admin, name: string): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const ended = await disableUser(admin.store, admin.actor, user);
  const text = ended === undefined ? `${name} was disabled already.` : `Disabled ${name}. ${sessionsEnded(ended)}`;
  return await outcome(admin, user.id, text, { changed: ended !== undefined, endedSessions: ended ?? 0 });
}

async function enable(admin: Admin, name: string): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const changed = await enableUser(admin.store, admin.actor, user);
  const keys = (await listKeys(admin.store.db, user.id)).filter((key) => !key.expired);
  const revived = keys.length > 0 ? ` API keys work again: ${keys.map((key) => key.id).join(', ')}.` : '';
  return await outcome(admin, user.id, changed ? `Enabled ${name}.${revived}` : `${name} was not disabled.`, { changed });
}

async function unlock(admin: Admin, name: string): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const changed = await unlockUser(admin.store, admin.actor, user);
  return await outcome(admin, user.id, changed ? `Unlocked ${name}.` : `${name} had no failed sign-ins.`, { changed });
}

async function addProfile(admin: Admin, name: string, profileName: string, makeDefault: boolean): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const profile = await profileCalled(admin.store.db, profileName);
  const added = await assignProfile(admin.store, admin.actor, user, profile, makeDefault);
  const text = added
    ? `${name} has the profile ${profileName}${added.isDefault ? ', as the default one' : ''}.`
    : `${name} had the profile ${profileName} already.`;
  return await outcome(admin, user.id, text, { changed: added !== undefined });
}

async function dropProfile(admin: Admin, name: string, profileName: string): Promise<CommandOutcome> {
  const user = await userCalled(admin.store.db, name);
  const profile = await profileCalled(admin.store.db, profileName);
  const result = await removeProfile(admin.store, admin.actor, user, profile);
  if (result === 'default') {
    throw new Refusal(
      `"${profileName}" is the default profile of "${printableText(name)}", who has others: make one of those the default first, with "user profile add … --default"`,
    );
  }
  const text =
    result === 'removed' ? `${name} no longer has the profile ${profileName}.` : `${name} did not have the profile ${profileName}.`;
  return await outcome(admin, user.id, text, { changed: result === 'removed' });
}

function sessionsEnded(count: number): string {
  return count === 1 ? '1 session has ended.' : `${count} sessions have ended.`;
}
