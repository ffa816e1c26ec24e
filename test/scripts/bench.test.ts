import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, inject, onTestFinished, test } from 'vitest';
import { Client } from 'pg';

const timeout = 120_000;

function startBench(...args: string[]) {
  const child = spawn(process.execPath, ['scripts/bench.ts', ...args], {
    env: { ...process.env, DATABASE_URL: inject('postgresUrl') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function benchDatabases(): Promise<string[]> {
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  const { rows } = await client.query<{ datname: string }>(`select datname from pg_database where datname like 'entity_service_bench_%'`);
  await client.end();
  return rows.map(({ datname }) => datname);
}

test('the bench measures service and limit, and every answer is 2xx', { timeout }, async () => {
  const before = await benchDatabases();
  const bench = startBench('--only', 'get-entity-by-key', '--seconds', '0.2', '--rounds', '2', '--connections', '4', '--json');
  const [output, errors, [code]] = await Promise.all([text(bench.stdout), text(bench.stderr), once(bench, 'exit')]);
  expect(code, errors).toBe(0);
  const figures = {
    answers: expect.toSatisfy((answers: number) => answers > 0),
    refused: 0,
    requestsPerSecond: expect.toSatisfy((rate: number) => rate > 0),
    p50: expect.any(Number),
    p99: expect.any(Number),
  };
  expect(JSON.parse(output)).toMatchObject({
    machine: { cores: expect.any(Number), node: process.version, postgres: expect.stringMatching(/^\d+\.\d+/) },
    plan: { rounds: 2, seconds: 0.2, connections: 4, logLevel: 'info' },
    startUp: [{ name: 'start on a running database', milliseconds: expect.any(Number) }],
    comparisons: [{ name: 'get-entity-by-key', connections: 4, service: figures, limit: figures, ratio: expect.any(Number) }],
  });
  expect(await benchDatabases()).toEqual(before);
});

test('Ctrl-C in the middle of a round leaves no process and no database behind', { timeout }, async () => {
  const before = await benchDatabases();
  const bench = startBench('--only', 'get-entity-by-key', '--seconds', '100');
  const ended = once(bench, 'exit');
  for await (const line of createInterface(bench.stderr)) if (line === 'get-entity-by-key: warm-up') break;
  expect((await benchDatabases()).length).toBe(before.length + 1);
  const servers = execFileSync('pgrep', ['-P', String(bench.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
  expect(servers).toHaveLength(2);
  bench.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  for (const pid of servers) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await benchDatabases()).toEqual(before);
});

test('an unknown option or name is told on standard error, with exit code 2', { timeout }, async () => {
  const bench = startBench('--only', 'get-entity-by-telepathy');
  const [errors, [code]] = await Promise.all([text(bench.stderr), once(bench, 'exit')]);
  expect(code).toBe(2);
  expect(errors).toContain('get-entity-by-telepathy');
});
