/** Debian's PostgreSQL with its tools, which the embedded package lacks. Without it, tests that need it are skipped with the reason. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { freePort } from '../../src/embedded/launch.ts';

const run = promisify(execFile);
const programs = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);

/**
 * Why there is no such PostgreSQL; undefined when there is one.
 * @throws Error if there is none and POSTGRES_TOOLS_REQUIRED is set.
 */
export function whyNoDebianPostgres(): string | undefined {
  const isRoot = process.getuid?.() === 0;
  if (programs && globSync(join(programs, 'pg_verifybackup')).length > 0 && isRoot) return undefined;
  const reason = isRoot
    ? 'no PostgreSQL with pg_verifybackup in /usr/lib/postgresql: run "apt-get install postgresql"'
    : 'the user postgres runs the server, which only root can become';
  if (process.env['POSTGRES_TOOLS_REQUIRED']) throw new Error(reason);
  return reason;
}

/**
 * Why pgBackRest cannot back up such a PostgreSQL; undefined when it can.
 * @throws Error if it cannot and PGBACKREST_REQUIRED is set.
 */
export function whyNoPgBackRest(): string | undefined {
  const reason =
    whyNoDebianPostgres() ?? (existsSync('/usr/bin/pgbackrest') ? undefined : 'no pgBackRest: run "apt-get install pgbackrest"');
  if (reason && process.env['PGBACKREST_REQUIRED']) throw new Error(reason);
  return reason;
}

/** A directory in which the user `postgres` runs servers, until the test ends. */
export class DebianPostgres {
  readonly directory: string;
  readonly port: number;

  private constructor(directory: string, port: number) {
    this.directory = directory;
    this.port = port;
  }

  static async create(): Promise<DebianPostgres> {
    const directory = await mkdtemp(join(tmpdir(), 'entity-service-debian-'));
    await chmod(directory, 0o777);
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    return new DebianPostgres(directory, await freePort());
  }

  /** The address of the database `postgres` on the server that runs. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** Makes a cluster with these lines of configuration. */
  async initialise(cluster: string, configuration: string): Promise<void> {
    const path = join(this.directory, cluster);
    await this.shell(`initdb -D ${path} -A trust -U postgres --locale=C --encoding=UTF8 --no-sync`);
    const lines = [`port = ${this.port}`, `unix_socket_directories = '${this.directory}'`, configuration];
    const file = join(this.directory, 'more.conf');
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o644 });
    await this.shell(`cat ${file} >> ${path}/postgresql.conf`);
  }

  /** Runs a script of the shell as the user `postgres`, with the programs of PostgreSQL. Throws with its output if it fails. */
  async shell(script: string): Promise<string> {
    const environment = { PATH: `${programs}:/usr/bin:/bin`, PGPORT: String(this.port), PGHOST: '127.0.0.1' };
    const whole = `set -e; cd ${this.directory}; ${script}`;
    const { stdout } = await run('/usr/sbin/runuser', ['-u', 'postgres', '--', '/bin/bash', '-c', whole], { env: environment });
    return stdout;
  }

  async start(cluster: string): Promise<void> {
    await this.shell(`pg_ctl -D ${cluster} -w -l ${cluster}.log start >${cluster}.out 2>&1`);
  }

  /** Ends the server; `immediate` as a crash does. */
  async stop(cluster: string, mode: 'fast' | 'immediate'): Promise<void> {
    await this.shell(`pg_ctl -D ${cluster} -m ${mode} stop >/dev/null 2>&1`);
  }
}
