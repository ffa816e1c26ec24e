/** The parts that all commands share: declaration, access to the database, and output of the outcome. */
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import { DatabaseError } from 'pg';
import type { Owner } from '../rights/administration.ts';
import { adminCommand, startCommand } from '../config/command-name.ts';
import { readDatabaseAddress } from '../config/database-address.ts';
import { readConfig, type Config } from '../config/settings.ts';
import { openStore, type Store } from '../database/port.ts';
import type { LogPosition } from '../database/standby/log-position.ts';
import { openReaders, samplingMs, type Readers } from '../database/standby/readers.ts';
import { Background } from '../background/background.ts';
import { layoutOf } from '../embedded/cluster.ts';
import { pendingMigrations } from '../database/migration-state.ts';
import { openDatabase, type PreparedDatabase } from '../start/prepare-database.ts';
import { asOwner, operatingSystemUser } from './owner.ts';
import { Refusal, toJson, type CommandOutcome } from './output.ts';

/** The environment of a command: its input, its outputs, and its exit code. */
export interface Desk {
  /** The source of passwords. */
  input: Readable & { isTTY?: boolean };
  /** For the outcome only. */
  output: Writable;
  /** Why the output cannot be written. The process reports it at its end. */
  outputError?: Error;
  /** For refusals, notes and prompts. */
  errors: Writable & { isTTY?: boolean };
  environment: () => NodeJS.ProcessEnv;
  /** 0: done; 1: refused or failed; 2: wrong usage; 3 and 4: the plan has changes, or needs a confirmation. */
  exitCode: 0 | 1 | 2 | 3 | 4;
}

/** The resources of a command. */
export interface Admin {
  desk: Desk;
  /** The right of the administrator who runs the command. */
  by: Owner;
  config: Config;
  /** The URL of the database without a transaction pooler, including the password. */
  directUrl: string;
  store: Store;
}

/** The option that every command has. */
export interface Shown {
  json?: true;
}

/** Declares a group of commands with the name of its subject. `examples` are the words after the command, here and below. */
export function addGroup(parent: Command, name: string, description: string, examples: readonly string[]): Command {
  return parent.command(name).description(description).addHelpText('after', exampleHelp(examples));
}

/** Declares a command. */
export function addCommand(parent: Command, name: string, description: string, examples: readonly string[]): Command {
  return parent
    .command(name)
    .summary(description)
    .description(description)
    .option('--json', 'print one JSON document instead')
    .addHelpText('after', exampleHelp(examples));
}

/** Throws {@link Refusal} if no option but --json is given. `flags` names those that would change something. */
export function requireChange(options: object, flags: string): void {
  if (Object.keys(options).every((name) => name === 'json')) throw new Refusal(`nothing to change: give ${flags}`, 2);
}

/** The end of a command's help. */
export function exampleHelp(examples: readonly string[]): string {
  return ['', 'Examples:', ...examples.map((example) => `  $ ${adminCommand} ${example}`)].join('\n');
}

/** Prints an outcome and sets its exit code; a failure makes that 1. */
export function printOutcome(desk: Desk, { json }: Shown, { document, text, note, failure, exitCode = 0 }: CommandOutcome): void {
  if (text !== undefined) desk.output.write(`${json ? toJson(document) : text}\n`);
  if (note) desk.errors.write(`note: ${note}\n`);
  if (failure) desk.errors.write(`error: ${failure}\n`);
  desk.exitCode = failure ? 1 : exitCode;
}

/**
 * Opens the existing database of the settings. Throws {@link Refusal} instead of creating a missing one, which the operator does not expect
 * here.
 */
export async function openExisting(config: Config): Promise<Omit<PreparedDatabase, 'administrator'>> {
  if (!config.databaseUrl && !(await stat(layoutOf(config.dataDir).home).catch(() => undefined))) {
    throw new Refusal(
      `there is no database in ${config.dataDir}: set DATABASE_URL or DATA_DIR, or create one with "migrate" or "${startCommand}"`,
    );
  }
  return await openDatabase(config);
}

/**
 * Runs `work` on the database and prints its outcome. A change is printed only after every process has received the notification of it.
 * Throws {@link Refusal} if the database is not of this version.
 */
export async function onDatabase(desk: Desk, shown: Shown, work: (admin: Admin) => Promise<CommandOutcome>): Promise<void> {
  await onAnyDatabase(desk, shown, async (admin) => {
    const pending = await pendingMigrations(admin.store.db);
    if (pending.length > 0) throw new Refusal(`the database lacks ${pending.join(', ')}: run "migrate" or start the service`);
    const outcome = await work(admin).catch((error: unknown) => {
      throw isLackOfRight(error) ? forOwner(error, admin.config) : error;
    });
    // An operator who reads that a user is disabled can rely on it, whichever replica the user calls next.
    if ((outcome.document as { changed?: boolean }).changed) await admin.store.settleAll(admin.directUrl);
    return outcome;
  });
}

const isLackOfRight = (error: unknown): error is DatabaseError => error instanceof DatabaseError && error.code === '42501';

/** The migrations are complete, so the role of the service has what it needs: some commands are for the owner alone. */
function forOwner({ message }: Error, { databaseUrl }: Config): Refusal {
  const role = databaseUrl ? `the database role ${readDatabaseAddress(databaseUrl.reveal()).user}` : 'the database role';
  return new Refusal(`${role} may not do this (${message}): run this command as the owner of the tables`);
}

/**
 * Runs `work` with readers, which may use the standby of DATABASE_READ_URL. What they read after the position has all that is in the database now.
 */
export async function onReaders<T>(
  { config, store }: Admin,
  work: (readers: Readers, after: LogPosition | undefined) => Promise<T>,
): Promise<T> {
  const ignore = () => undefined;
  const readers = openReaders(
    store,
    { url: config.databaseReadUrl?.reveal(), size: 4, maximumLagMs: config.readLagSeconds * 1_000 },
    { onError: ignore, onDown: ignore, onUp: ignore },
  );
  const background = new Background();
  try {
    await readers.sample();
    background.every('standby', samplingMs, () => readers.sample());
    return await work(readers, await store.log?.atPresent());
  } finally {
    await background.stop();
    await readers.close();
  }
}

/** As {@link onDatabase}, on a database of any version, which `open` may create. */
export async function onAnyDatabase(
  desk: Desk,
  shown: Shown,
  work: (admin: Admin) => Promise<CommandOutcome>,
  open: typeof openExisting = openExisting,
): Promise<void> {
  const config = readConfig(desk.environment());
  await using opened = await open(config);
  const { url, directUrl } = opened;
  await using store = openStore(url, 2, () => undefined, { directUrl, followsLog: config.databaseReadUrl !== undefined });
  printOutcome(desk, shown, await work({ desk, by: asOwner(operatingSystemUser()), config, directUrl, store }));
}
