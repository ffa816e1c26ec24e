/**
 * `npm run check:migrations`: reads the first lines of all migrations, and runs squawk, which knows the statements that keep others waiting. A line
 * `-- squawk-ignore <rule>` before a statement accepts it. Without squawk the check passes, except in CI.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrations } from '../../src/database/migration-files.ts';
import { readOptions } from '../lib/options.ts';

const project = join(import.meta.dirname, '../..');
const squawk = join(project, 'node_modules/squawk-cli/js/bin/squawk');
/** The migrator sets the first two; numbers that never come near 2^31 are `integer`. */
const settled = ['require-lock-timeout', 'require-statement-timeout', 'prefer-bigint-over-int'];

const usage = `npm run check:migrations -- [options]

  --help  print this
`;

readOptions('check:migrations', usage, {});
const files = await readMigrations();
for (const { name } of files.filter(({ runsBeside }) => runsBeside === undefined)) {
  process.stderr.write(`${name}.sql has to begin with the line "-- runs beside: 0.1.0" (see CONTRIBUTING.md)\n`);
  process.exitCode = 1;
}
if (existsSync(squawk)) {
  const check = (names: readonly string[], ...options: string[]) => {
    if (names.length === 0) return;
    const paths = names.map((name) => join(project, `src/database/migrations/${name}.sql`));
    const { status } = spawnSync(process.execPath, [squawk, '--pg-version', '15', '--exclude', settled.join(','), ...options, ...paths], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exitCode = 1;
  };
  check(
    files.filter(({ inTransaction }) => inTransaction).map(({ name }) => name),
    '--assume-in-transaction',
  );
  check(files.filter(({ inTransaction }) => !inTransaction).map(({ name }) => name));
} else {
  process.stderr.write('squawk-cli is not installed, so no statement was checked: run npm ci\n');
  if (process.env['CI']) process.exitCode = 1;
}
