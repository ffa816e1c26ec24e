/** `database …`: copies of all data, while the service runs. */
import { stat } from 'node:fs/promises';
import { InvalidArgumentError, type Command } from 'commander';
import {
  assertKnownSchema,
  backUpDatabase,
  copyDatabase,
  finishRestore,
  restoreDatabase,
  TargetError,
  type From,
  type Watch,
} from '../administration/transfer.ts';
import { databaseName, hasRawSeparator, separatorEscapes } from '../config/database-address.ts';
import { Secret } from '../config/secrets.ts';
import { verifyBackup, type Header } from '../database/transfer/backup-file.ts';
import type { Contents } from '../database/transfer/contents.ts';
import { rebuildCompanions } from '../entity-types/rebuild.ts';
import { TransferRefused } from '../database/transfer/load.ts';
import { CancelledError } from '../database/transfer/snapshot.ts';
import { explainFailure } from '../start/failure.ts';
import { openDatabase } from '../start/prepare-database.ts';
import { asOwner, operatingSystemUser } from './owner.ts';
import { restoreFromArchive, verifyWholeArchive } from './archive.ts';
import { Cancellation } from './cancellation.ts';
import { addGroup, addCommand, onAnyDatabase, onDatabase, printOutcome, type Admin, type Desk, type Shown } from './command.ts';
import { Refusal, tableText, timeText, type CommandOutcome } from './output.ts';
import { Progress } from './progress.ts';
import { isInstant } from '../filter/values.ts';
import { readVersion } from '../config/version.ts';

interface RestoreFlags {
  from: string;
  until?: string;
}

export function transferCommands(program: Command, desk: Desk): void {
  const database = addGroup(program, 'database', 'copies of all data, also while the service runs', [
    'database backup --to /backups/monday.backup',
    'database copy --to postgres://owner@db.example.com/entities?sslmode=verify-full',
  ]);
  addCommand(database, 'copy', 'copy everything into another, empty database', [
    'database copy --to postgres://owner@db.example.com/entities?sslmode=verify-full',
  ])
    .requiredOption('--to <url>', 'the other database, without the password: that comes from PGPASSWORD or ~/.pgpass', targetUrl)
    .action((options: Shown & { to: string }) => onDatabase(desk, options, (admin) => copy(admin, options.to)));
  addCommand(database, 'backup', 'write everything except sessions into a new file', ['database backup --to /backups/monday.backup'])
    .requiredOption('--to <file>', 'the file, which must not exist')
    .action((options: Shown & { to: string }) => onDatabase(desk, options, (admin) => backUp(admin, options.to)));
  addCommand(database, 'restore', 'fill an empty database from a backup, or a new DATA_DIR from an archive', [
    'database restore --from /backups/monday.backup',
    'database restore --from /archive --until 2026-11-22T21:28:25Z',
  ])
    .requiredOption('--from <path>', 'the file of the backup, or the directory of the archive')
    .option(
      '--until <time>',
      'from an archive: the moment whose state to restore, such as 2026-11-22T21:28:25Z; without it the last one',
      pastTime,
    )
    .action((options: Shown & RestoreFlags) => restore(desk, options));
  addCommand(database, 'verify', 'read a backup or an archive to its end, and change nothing', [
    'database verify --from /backups/monday.backup',
    'database verify --from /archive',
  ])
    .requiredOption('--from <path>', 'the file of the backup, or the directory of the archive')
    .action(async ({ from, ...shown }: Shown & { from: string }) =>
      printOutcome(desk, shown, await ((await isDirectory(from)) ? verifyWholeArchive(from) : verify(from))),
    );
  addCommand(database, 'after-restore', 'end sessions and move keys on, after the tools of PostgreSQL have restored the database', [
    'database after-restore --taken-at 2026-11-22T21:28:25Z',
  ])
    .requiredOption('--taken-at <time>', 'the moment whose state the database has, such as 2026-11-22T21:28:25Z', pastTime)
    .action((options: Shown & { takenAt: string }) => onDatabase(desk, options, (admin) => afterRestore(admin, options.takenAt)));
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function targetUrl(text: string): string {
  // The message of an InvalidArgumentError would repeat the value, which may have a password.
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text) || hasRawSeparator(text))
    throw new Refusal(`--to must be a URL such as postgres://owner@host/database, with %-escapes in its parts: ${separatorEscapes}`, 2);
  const { password, searchParams } = new URL(text);
  if (password === '' && !searchParams.has('password')) return text;
  throw new Refusal(
    'a password does not belong on a command line, where all users of the machine can read it: leave it out of --to, and set PGPASSWORD or write it into ~/.pgpass',
    2,
  );
}

function pastTime(text: string): string {
  if (!isInstant(text)) throw new InvalidArgumentError('Give a time such as 2026-11-22T21:28:25Z.');
  if (Date.parse(text) > Date.now()) throw new InvalidArgumentError('This time is not over yet.');
  return text;
}

async function copy(admin: Admin, url: string): Promise<CommandOutcome> {
  const target = { url, name: databaseName(url) };
  const contents = await transfer(admin.desk, `the target ${target.name} `, 'the target has the same rows as before', (watch) =>
    copyDatabase(admin satisfies From, admin.by, target, watch, rebuildCompanions).catch((error: unknown) => {
      throw error instanceof TargetError ? targetFailure(error, target) : error;
    }),
  );
  return {
    document: { to: target.name, ...summary(contents) },
    text: `${comparisonWith(contents)}\n\nCopied the state of ${time(contents)} to ${target.name}. The rows of each table are the same in both.`,
    note: 'the copy has no later change: to move the service, stop it before the copy, and start it with the new DATABASE_URL',
  };
}

async function backUp(admin: Admin, file: string): Promise<CommandOutcome> {
  const { bytes, ...contents } = await transfer(admin.desk, '', 'there is no file', (watch) =>
    backUpDatabase(admin satisfies From, admin.by.actor, file, readVersion(), watch),
  );
  return {
    document: { file, bytes, ...summary(contents) },
    text: `Wrote the state of ${time(contents)} into ${file}: ${total(contents)} rows, ${bytes} bytes.`,
  };
}

async function restore(desk: Desk, { from: file, until, ...shown }: Shown & RestoreFlags): Promise<void> {
  if (await isDirectory(file)) return printOutcome(desk, shown, await restoreFromArchive(desk, file, until));
  if (until !== undefined) throw new Refusal(`--until is for an archive, and ${file} is no directory`, 2);
  // Before anything is created or changed.
  const header = await usableBackup(file);
  const work = async ({ directUrl }: Admin): Promise<CommandOutcome> => {
    await transfer(desk, 'the database ', 'the database has no row', (watch) =>
      restoreDatabase(directUrl, asOwner(operatingSystemUser()), file, header, watch, rebuildCompanions),
    );
    return {
      document: { file, service: header.service, ...summary(header) },
      text: `${comparisonWith(header)}\n\nRestored the state of ${time(header)} from ${file}. The rows of each table are the same in both.`,
      note: 'all sessions have ended; passwords, rights and API keys are those of the backup, also those that were changed or revoked after it',
    };
  };
  await onAnyDatabase(desk, shown, work, openDatabase);
}

/** The header of a backup that is whole, and that this version can restore. Throws {@link Refusal} for any other file. */
async function usableBackup(file: string): Promise<Header> {
  try {
    const header = await verifyBackup(file);
    await assertKnownSchema(file, header);
    return header;
  } catch (error) {
    throw error instanceof TransferRefused ? new Refusal(error.message) : error;
  }
}

async function verify(file: string): Promise<CommandOutcome> {
  const header = await usableBackup(file);
  return {
    document: { file, service: header.service, ...summary(header) },
    text: `${file} is whole: the state of ${time(header)}, ${total(header)} rows, written by version ${header.service}.`,
  };
}

async function afterRestore({ store, by }: Admin, takenAt: string): Promise<CommandOutcome> {
  const { sessions, nextKey } = await finishRestore(store, by, takenAt);
  return {
    document: { changed: true, takenAt, sessions, nextKey },
    text: `Ended ${sessions} ${sessions === 1 ? 'session' : 'sessions'}. The keys of new entities begin at ${nextKey}.`,
    note: `passwords, rights and API keys are those of ${timeText(new Date(takenAt))}, also those that were changed or revoked after it`,
  };
}

/** Runs `work`, which Ctrl-C cancels, and shows its progress. `place` and `unchanged` complete the messages of a refusal and a cancellation. */
async function transfer<T>({ errors }: Desk, place: string, unchanged: string, work: (watch: Watch) => Promise<T>): Promise<T> {
  using cancellation = new Cancellation();
  const progress = new Progress(errors);
  try {
    return await work({
      signal: cancellation.signal,
      onContents: (contents) => progress.start(contents),
      onRows: (rows, count) => progress.add(rows, count),
    });
  } catch (error) {
    if (cancellation.signal.aborted || error instanceof CancelledError) throw new Refusal(`cancelled: ${unchanged}`);
    throw error instanceof TransferRefused ? new Refusal(`${place}${error.message}`) : error;
  } finally {
    progress.end();
  }
}

/** As a failure of the service's own database is explained, with the name of the option instead of the setting. */
function targetFailure({ cause }: TargetError, { url, name }: { url: string; name: string }): Error {
  const asSetting = { databaseUrl: new Secret(url, name), databaseDirectUrl: undefined } as Parameters<typeof explainFailure>[1];
  return new Refusal(explainFailure(cause, asSetting).join(' ').replace('(DATABASE_URL)', '(--to)'));
}

/** Without the tables that have no rows. */
function comparisonWith({ tables }: Contents): string {
  const filled = tables.filter(({ rows }) => rows > 0);
  return tableText(
    ['TABLE', 'SOURCE', 'TARGET'],
    filled.map(({ name, rows }) => [name, String(rows), String(rows)]),
    '',
  );
}

function summary({ takenAt, tables }: Contents) {
  return { takenAt, tables: tables.map(({ name, rows }) => ({ name, rows })) };
}

function total({ tables }: Contents): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function time({ takenAt }: Contents): string {
  return timeText(new Date(takenAt));
}
