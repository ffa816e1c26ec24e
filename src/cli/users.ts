/** `user …`: users and their profiles. */
import type { Command } from 'commander';
import type { Changed } from '../administration/changed.ts';
import {
  assignProfile,
  changeUser,
  createUser,
  disableUser,
  enableUser,
  getUser,
  removeProfile,
  requireFreeUserName,
  setPassword,
  unlockUser,
} from '../administration/users/use-cases.ts';
import { listUsers, type UserState } from '../accounts/users.ts';
import { localeTag, newUserName, roleOrProfileName, shownText, timeZone, userName } from './arguments.ts';
import { attributeCell, attributeOption, readAttributes, throwRefusal, type TypedAttributes } from './attributes.ts';
import { addGroup, addCommand, onDatabase, requireChange, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, tableText, timeText, type CommandOutcome } from './output.ts';
import { takePassword } from './password.ts';

interface PasswordSource {
  passwordStdin?: true;
}

interface UserOptions {
  displayName?: string;
  /** False for --no-locale. */
  locale?: string | false;
  /** False for none. */
  timeZone?: string | false;
  attribute?: TypedAttributes;
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
  addCommand(users, 'update', 'change the display name, the locale, the time zone or attributes of a user', [
    'user update ada --display-name "Ada King"',
    'user update ada --locale de-AT --time-zone Europe/Vienna',
    `user update ada --attribute regions='["north"]'`,
  ])
    .argument('<name>', 'the user', userName)
    .option('--display-name <text>', 'what people read', shownText)
    .option('--locale <tag>', 'language of new sessions, as en or de-AT', localeTag)
    .option('--no-locale', 'new sessions take the language of the default profile, else English')
    .option('--time-zone <zone>', 'time zone of the user, as Europe/Berlin; none for UTC', timeZone)
    .option(...attributeOption)
    .action(async (name: string, options: Shown & UserOptions) => {
      requireChange(options, '--display-name, --locale, --no-locale, --time-zone or --attribute');
      await onDatabase(desk, options, (admin) => update(admin, name, options));
    });
  addCommand(users, 'list', 'list all users', ['user list', 'user list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listUsers(db);
      return { document: rows, text: describeUsers(rows) };
    }),
  );
  addCommand(users, 'show', 'show a user with the attributes', ['user show ada', 'user show ada --json'])
    .argument('<name>', 'the user', userName)
    .action((name: string, options: Shown) =>
      onDatabase(desk, options, async ({ store, by }) => {
        const state = await getUser(store, by, name);
        return { document: state, text: describeUser(state) };
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
    .action((name: string, options: PasswordSource & Shown) => onDatabase(desk, options, (admin) => changePassword(admin, name, options)));

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

function describeUsers(rows: readonly UserState[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.displayName,
    row.active ? 'active' : 'disabled',
    profilesCell(row),
    row.locale ?? '-',
    timeText(row.createdAt),
  ]);
  return tableText(['NAME', 'DISPLAY NAME', 'STATE', 'PROFILES', 'LOCALE', 'CREATED'], cells, 'There are no users yet.');
}

const profilesCell = ({ profiles }: UserState) =>
  profiles.map((profile) => profile.name + (profile.default ? ' (default)' : '')).join(', ') || '-';

function describeUser(state: UserState): string {
  const lines = [
    ['DISPLAY NAME', state.displayName],
    ['STATE', state.active ? 'active' : 'disabled'],
    ['PASSWORD', state.hasPassword ? 'yes' : 'none'],
    ['PROFILES', profilesCell(state)],
    ['LOCALE', state.locale ?? '-'],
    ['TIME ZONE', state.timeZone ?? '-'],
    ['ATTRIBUTES', attributeCell(state.attributes)],
    ['CREATED', timeText(state.createdAt)],
  ];
  return tableText(['NAME', state.name], lines, '');
}

/** The outcome of a change: the user after it, whether anything changed, and further facts. */
function outcomeOf({ state, changed }: Changed<UserState>, text: string, facts: Record<string, unknown> = {}): CommandOutcome {
  return { document: { ...state, changed, ...facts }, text: printableText(text) };
}

async function create(admin: Admin, given: string, options: NewUserOptions): Promise<CommandOutcome> {
  const { store, by } = admin;
  const [name, displayName] = [userName(given), options.displayName ?? given];
  await requireFreeUserName(store, by, name);
  const { passwordHash, generated } = await takePassword(admin, { name, displayName }, options.passwordStdin === true);
  const state = await createUser(store, by, { name, displayName, locale: options.locale ?? null, passwordHash });
  return withGenerated(outcomeOf({ state, changed: true }, `Created the user ${name}.`), generated);
}

async function update(admin: Admin, name: string, { displayName, locale, timeZone, attribute }: UserOptions): Promise<CommandOutcome> {
  const attributes = await readAttributes(admin, 'user', attribute);
  const change = { displayName, locale: locale === false ? null : locale, timeZone: timeZone === false ? null : timeZone, attributes };
  const outcome = await changeUser(admin.store, admin.by, name, change).catch(throwRefusal);
  return outcomeOf(outcome, outcome.changed ? `Changed ${name}.` : `Unchanged: ${name}.`);
}

function withGenerated({ document, text }: CommandOutcome, generated: string | undefined): CommandOutcome {
  if (generated === undefined) return { document, text };
  return {
    document: { ...(document as object), password: generated },
    text: `${text} The password, shown this once:\n\n  ${generated}\n`,
  };
}

async function changePassword(admin: Admin, name: string, options: PasswordSource): Promise<CommandOutcome> {
  const { store, by } = admin;
  const { passwordHash, generated } = await takePassword(admin, await getUser(store, by, name), options.passwordStdin === true);
  const { endedSessions, ...outcome } = await setPassword(store, by, name, passwordHash);
  const text = `Set a new password for ${name}. ${sessionsEnded(endedSessions)}`;
  return withGenerated(outcomeOf(outcome, text, { endedSessions }), generated);
}

async function disable({ store, by }: Admin, name: string): Promise<CommandOutcome> {
  const { endedSessions, ...outcome } = await disableUser(store, by, name);
  const text = outcome.changed ? `Disabled ${name}. ${sessionsEnded(endedSessions)}` : `${name} was disabled already.`;
  return outcomeOf(outcome, text, { endedSessions });
}

async function enable({ store, by }: Admin, name: string): Promise<CommandOutcome> {
  const { revivedKeys, ...outcome } = await enableUser(store, by, name);
  const revived = revivedKeys.length > 0 ? ` API keys work again: ${revivedKeys.join(', ')}.` : '';
  return outcomeOf(outcome, outcome.changed ? `Enabled ${name}.${revived}` : `${name} was not disabled.`);
}

async function unlock({ store, by }: Admin, name: string): Promise<CommandOutcome> {
  const outcome = await unlockUser(store, by, name);
  return outcomeOf(outcome, outcome.changed ? `Unlocked ${name}.` : `${name} had no failed sign-ins.`);
}

async function addProfile({ store, by }: Admin, name: string, profile: string, makeDefault: boolean): Promise<CommandOutcome> {
  const outcome = await assignProfile(store, by, name, { profile, makeDefault });
  const isDefault = outcome.state.profiles.some((each) => each.name === profile && each.default);
  const assigned = `${name} has the profile ${profile}${isDefault ? ', as the default one' : ''}.`;
  return outcomeOf(outcome, outcome.changed ? assigned : `${name} had the profile ${profile} already.`);
}

async function dropProfile({ store, by }: Admin, name: string, profile: string): Promise<CommandOutcome> {
  const outcome = await removeProfile(store, by, name, profile);
  return outcomeOf(outcome, `${name} ${outcome.changed ? 'no longer has' : 'did not have'} the profile ${profile}.`);
}

function sessionsEnded(count: number): string {
  return count === 1 ? '1 session has ended.' : `${count} sessions have ended.`;
}
