/** `migrate` and `doctor`: prepare and check what the service needs to run. */
import type { Command } from 'commander';
import { migrateDatabase } from '../database/migrate.ts';
import { pendingMigrations } from '../database/migration-state.ts';
import { openDatabase } from '../start/prepare-database.ts';
import { addCommand, onAnyDatabase, printOutcome, type Admin, type Desk, type Shown } from './command.ts';
import type { Check } from './check.ts';
import { runChecks } from './doctor.ts';
import { tableText, type CommandOutcome } from './output.ts';

interface MigrateFlags {
  check?: true;
  force?: true;
}

export function databaseCommands(program: Command, desk: Desk): void {
  addCommand(program, 'migrate', 'bring the database to the schema of this version', ['migrate', 'migrate --check'])
    .option('--check', 'change nothing; exit code 1 when migrations are missing')
    .option('--force', 'also if processes run that the new schema breaks')
    .action((options: Shown & MigrateFlags) =>
      options.check
        ? onAnyDatabase(desk, options, checkMigrations)
        : onAnyDatabase(desk, options, (admin) => applyMigrations(admin, options), openDatabase),
    );
  addCommand(program, 'doctor', 'check the machine, the settings and the database', ['doctor', 'doctor --all', 'doctor --json'])
    .option('--all', 'compare the indexed values of all entities, not of 1,000 for each type')
    .action(async (options: Shown & { all?: true }) =>
      printOutcome(desk, options, report(await runChecks(desk.environment, options.all === true))),
    );
}

function report(checks: Check[]): CommandOutcome {
  const failed = checks.filter((check) => check.status === 'fail').length;
  const rows = checks.map((check) => [check.status, check.name, check.message]);
  return {
    document: { ok: failed === 0, checks },
    text: tableText(['RESULT', 'CHECK', 'FINDING'], rows, ''),
    ...(failed > 0 && { failure: failed === 1 ? '1 check has failed' : `${failed} checks have failed` }),
  };
}

async function applyMigrations({ directUrl, desk }: Admin, { force }: MigrateFlags): Promise<CommandOutcome> {
  const applied = await migrateDatabase(directUrl, { force, onWait: (line) => desk.errors.write(`note: ${line}\n`) });
  return {
    document: { applied, pending: [] },
    text: applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to do: the database has every migration.',
  };
}

async function checkMigrations({ store: { db } }: Admin): Promise<CommandOutcome> {
  const pending = await pendingMigrations(db);
  const document = { applied: [], pending };
  return pending.length === 0
    ? { document, text: 'The database has every migration.' }
    : { document, text: pending.join('\n'), failure: 'the database lacks migrations: run "migrate"' };
}
