/**
 * An upgrade of two replicas behind nginx, one after the other, while clients write: from the release before to this version, from this version to a
 * later one, back, and forward again. The later one is this version with a migration that adds a column to every table.
 *
 * The service answers nothing but 503 for what it did not do. nginx answers 502 when it sends a request over a kept connection that a stopping replica is
 * closing; there may be one in a thousand writes, and the ledger says whether such a write was done.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../src/embedded/launch.ts';
import { startService, type Server } from '../../scripts/lib/processes.ts';
import { startNginx } from '../support/nginx.ts';
import { makeCallers } from './callers.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';
import type { Outcome, Progress } from './outcome.ts';

/** The last revision of 0.1.0 whose schema ends with the migration 0017. It knows neither notes of migrations nor processes. */
const revisionBefore = 'cba1a7c5adee623c608f30e48de045b74348a393';

const project = join(import.meta.dirname, '../..');

const columnEverywhere = `-- runs beside: 0.1.0
do $$
declare
  each regclass;
begin
  for each in select oid from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname not like 'kysely%' loop
    execute format('alter table %s add column added_later text', each);
  end loop;
end $$;
`;

/** Why the revision before cannot be started; undefined if it can. */
export function whyNoRevisionBefore(): string | undefined {
  const { status } = spawnSync('git', ['cat-file', '-e', `${revisionBefore}^{commit}`], { cwd: project });
  return status === 0 ? undefined : `this copy of the repository lacks the revision ${revisionBefore.slice(0, 7)}`;
}

interface Plan {
  clients: number;
  /** The number of acknowledged writes before each replacement of a replica, and after the last one. */
  writes: number;
}

/** Runs the upgrade on the empty database at `databaseUrl`, and compares the ledger with its rows. */
export async function upgradeService(
  { clients, writes }: Plan,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const versions = await mkdtemp(join(tmpdir(), 'entity-service-versions-'));
  opened.defer(() => rm(versions, { recursive: true, force: true }));
  const [before, later] = [join(versions, 'before'), join(versions, 'later')];
  unpackRevision(before);
  copyVersion(later);
  writeFileSync(join(later, 'src/database/migrations/9001-column-everywhere.sql'), columnEverywhere);

  const start = (cwd: string, port: number) =>
    startService({ ...settings, TRUST_PROXY: '127.0.0.1/32' }, opened, { lean: false, port, cwd });
  const ports = [await freePort(), await freePort()];
  const replicas: Server[] = [];
  for (const port of ports) replicas.push(await start(before, port));
  const nginx = await startNginx(ports.map((port) => `http://127.0.0.1:${port}`));
  opened.defer(() => nginx.stop());
  const ledger = new Ledger();
  const callers = await makeCallers(databaseUrl, { sessions: 500 });
  const stop = startWriters(clients, () => nginx.port, callers, ledger);
  const acknowledge = async () => {
    const goal = ledger.acknowledged + writes;
    while (ledger.acknowledged < goal) await delay(20);
  };
  for (const [name, directory] of Object.entries({
    'this version': project,
    'the later one': later,
    back: project,
    'forward again': later,
  })) {
    for (const [index, port] of ports.entries()) {
      await acknowledge();
      await replicas[index]?.stop();
      replicas[index] = await start(directory, port);
      await untilReached(nginx.port, port);
    }
    progress(`${name}: ${ledger.acknowledged} writes acknowledged, ${ledger.refused} refused`);
  }
  await acknowledge();
  await stop();
  const badGateways = ledger.statuses.get(502) ?? 0;
  const wrong = (await ledger.compare(databaseUrl)).filter((line) => !/\b502:? ?(<html>|$)/.test(line));
  if (badGateways * 1_000 > ledger.acknowledged) wrong.push(`${badGateways} times 502`);
  return {
    violations: wrong,
    figures: {
      replacements: 8,
      acknowledged: ledger.acknowledged,
      refused: ledger.refused,
      unanswered: ledger.unanswered,
      badGateways,
    },
  };
}

/** nginx sends nothing to a replica for ten seconds after it has refused a connection. The other replica goes on serving until then. */
async function untilReached(nginxPort: number, port: number): Promise<void> {
  const reached = `127.0.0.1:${port}`;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${nginxPort}/health/live`);
    await answer.body?.cancel();
    if (answer.headers.get('x-replica') === reached) return;
    await delay(20);
  }
}

function unpackRevision(directory: string): void {
  mkdirSync(directory);
  const archive = spawnSync('git', ['archive', revisionBefore], { cwd: project, maxBuffer: 2 ** 28 });
  const { status } = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout });
  if (archive.status !== 0 || status !== 0) throw new Error(`the revision ${revisionBefore} could not be unpacked`);
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'));
}

function copyVersion(directory: string): void {
  mkdirSync(directory);
  for (const name of ['src', 'scripts', 'generated', 'openapi.yaml', 'package.json']) {
    cpSync(join(project, name), join(directory, name), { recursive: true });
  }
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'));
}
