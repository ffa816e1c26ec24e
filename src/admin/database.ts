/** `migrate` and `doctor`: what must be right before the service can run. */
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { migrate, migrationState } from '../database/migrate.ts';
import { openDatabase } from '../prepare.ts';
import { leaf, openExisting, print, type Desk, type Shown } from './command.ts';
import { examine, type Check } from './doctor.ts';
import { Refusal, table, type Outcome } from './output.ts';

export function databaseCommands(program: Command, desk: Desk): void {
  leaf(program, 'migrate', 'bring the database to the schema of this version', ['migrate', 'migrate --check'])
    .option('--check', 'change nothing; exit code 1 when migrations are missing')
    .action(async (options: Shown & { check?: true }) =>
      print(desk, options, await (options.check ? checkMigrations(desk) : applyMigrations(desk))),
    );
  leaf(program, 'doctor', 'check the machine, the settings and the database', ['doctor', 'doctor --json']).action(async (options: Shown) =>
    print(desk, options, report(await examine(desk.environment()))),
  );
}

function report(checks: Check[]): Outcome {
  const failed = checks.filter((check) => check.status === 'fail').length;
  const rows = checks.map((check) => [check.status, check.name, check.message]);
  return {
    document: { ok: failed === 0, checks },
    text: table(['RESULT', 'CHECK', 'FINDING'], rows, ''),
    ...(failed > 0 && { failure: failed === 1 ? '1 check has failed' : `${failed} checks have failed` }),
  };
}

async function applyMigrations(desk: Desk): Promise<Outcome> {
  const opened = await openDatabase(readConfig(desk.environment()));
  try {
    await refuseLater(opened.url);
    const applied = await migrate(opened.url);
    const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to do: the database has every migration.';
    return { document: { applied, pending: [] }, text };
  } finally {
    await opened.close();
  }
}

async function checkMigrations(desk: Desk): Promise<Outcome> {
  const opened = await openExisting(readConfig(desk.environment()));
  try {
    const pending = await refuseLater(opened.url);
    const text = pending.length > 0 ? pending.join('\n') : 'The database has every migration.';
    return {
      document: { applied: [], pending },
      text,
      ...(pending.length > 0 && { failure: 'the database lacks migrations: run "migrate"' }),
    };
  } finally {
    await opened.close();
  }
}

/** Returns what is pending, unless a later version has migrated the database. */
async function refuseLater(url: string): Promise<string[]> {
  const { pending, unknown } = await migrationState(url);
  if (unknown.length > 0) throw new Refusal(`the database belongs to a later version, which added ${unknown.join(', ')}`);
  return pending;
}
