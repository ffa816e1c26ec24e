/** `key …`: API keys of users. A key is shown once, at its creation. */
import type { Command } from 'commander';
import { getNamedRow } from '../accounts/named-rows.ts';
import { createUserKey, revokeUserKey } from '../administration/keys/use-cases.ts';
import { parseKey } from '../api-keys/key.ts';
import { listKeys } from '../api-keys/store.ts';
import type { Scope } from '../rights/vocabulary.ts';
import { Problem } from '../problems/errors.ts';
import { roleOrProfileName, scopeList, shownText, userName, wholeNumber } from './arguments.ts';
import { addGroup, addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, Refusal, tableText, timeText, type CommandOutcome } from './output.ts';
import { keyRefusal } from './refusals.ts';

interface NewKeyOptions {
  name: string;
  profile?: string;
  scope?: Scope[];
  expiresDays: number;
}

export function keyCommands(program: Command, desk: Desk): void {
  const keys = addGroup(program, 'key', 'API keys', ['key create ada --name "nightly import"', 'key list ada']);
  addCommand(keys, 'create', 'create an API key, which is shown this once', [
    'key create ada --name "nightly import"',
    'key create ada --name backup --profile sales --expires-days 30 --json',
    'key create ada --name report --scope customer:read --scope order:read,update',
  ])
    .argument('<user>', 'the user who owns it', userName)
    .requiredOption('--name <text>', 'what it is for', shownText)
    .option('--profile <name>', "one of the user's profiles (default: whichever is the default one at the time)", roleOrProfileName)
    .option('--scope <entity:actions>', "the key may do only this: an entity name or '*', and its actions; may be repeated", scopeList)
    .option('--expires-days <number>', 'days until it expires, 1 to 365', wholeNumber(1, 365), 90)
    .action((user: string, options: Shown & NewKeyOptions) => onDatabase(desk, options, (admin) => create(admin, user, options)));
  addCommand(keys, 'list', 'list the API keys that have not been revoked', ['key list', 'key list ada --json'])
    .argument('[user]', 'only those of this user', userName)
    .action((user: string | undefined, options: Shown) => onDatabase(desk, options, (admin) => list(admin, user)));
  addCommand(keys, 'revoke', 'end an API key', ['key revoke 4fT9xQ2mLs0B'])
    .argument('<id>', 'its id, as listed: the twelve characters after esk_')
    .action((id: string, options: Shown) => onDatabase(desk, options, (admin) => revoke(admin, id)));
}

async function create({ store, by }: Admin, user: string, options: NewKeyOptions): Promise<CommandOutcome> {
  const { name, profile, scope: scopes, expiresDays: expiresInDays } = options;
  const made = await createUserKey(store, by, user, { name, profile, scopes, expiresInDays }).catch((error: unknown) => {
    throw error instanceof Problem ? keyRefusal(error, user, { profile, scopes }) : error;
  });
  const text = `Created an API key for ${printableText(user)}, which expires at ${timeText(made.expiresAt)}. It is shown this once:\n\n  ${made.key}\n`;
  return { document: made, text };
}

async function list({ store: { db } }: Admin, name: string | undefined): Promise<CommandOutcome> {
  const rows = await listKeys(db, name && (await getNamedRow(db, 'user', name)).id);
  const document = rows.map(({ userName, ...row }) => ({ ...row, user: userName }));
  const cells = rows.map((row) => [
    row.id,
    row.userName,
    row.name,
    row.profile ?? '(default)',
    row.scopes?.map(({ entity, actions }) => `${entity}:${actions.join(',')}`).join(' ') ?? '-',
    timeText(row.createdAt),
    timeText(row.lastUsedAt),
    timeText(row.expiresAt) + (row.expired ? ' (expired)' : ''),
  ]);
  return {
    document,
    text: tableText(['ID', 'USER', 'NAME', 'PROFILE', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES'], cells, 'There are no API keys.'),
  };
}

async function revoke({ store, by }: Admin, id: string): Promise<CommandOutcome> {
  const whole = parseKey(id);
  if (whole) throw new Refusal(`that is a whole key, which does not belong on a command line; its id is ${whole.id}`, 2);
  // The message does not contain the text, which may be a key without one of its characters.
  if (!/^[0-9A-Za-z]{12}$/.test(id)) throw new Refusal('an id has twelve letters and digits; "key list" shows them', 2);
  const { state, changed } = await revokeUserKey(store, by, id);
  const text = changed ? `Revoked the key ${id} of ${printableText(state.user)}.` : `The key ${id} was revoked already.`;
  return { document: { ...state, changed }, text };
}
