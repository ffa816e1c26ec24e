/** `npm run bench -- lists`, briefly and over few entities. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startThrowAwayServer } from '../support/global-setup.ts';

/** A separate server: the bench creates a database. */
let server: Awaited<ReturnType<typeof startThrowAwayServer>>;
beforeAll(async () => {
  server = await startThrowAwayServer();
});
afterAll(() => server.stop());

const run = (...options: string[]) =>
  promisify(execFile)(process.execPath, ['scripts/bench/main.ts', 'lists', ...options], {
    env: { ...process.env, DATABASE_URL: server.url },
  });

interface Report {
  lists: {
    entities: number;
    name: string;
    refused?: string;
    service?: Record<string, number>;
    limit?: Record<string, number>;
    namedLimit?: Record<string, number>;
    peers?: Record<string, Record<string, number>>;
  }[];
}

test('measures each list of each size on the service and on the limit', async () => {
  const sizes = ['--entities', '3000', '--entities', '1000'];
  const { stdout, stderr } = await run(...sizes, '--seconds', '0.2', '--rounds', '1', '--json');
  const { lists } = JSON.parse(stdout) as Report;
  expect(lists.map(({ entities, name }) => `${entities} ${name}`)).toEqual(
    [1000, 3000].flatMap((entities) => [
      `${entities} first page by key`,
      `${entities} page ${entities / 100} by key`,
      `${entities} first page by an index`,
      `${entities} page ${entities / 100} by an index`,
      `${entities} filtered`,
      `${entities} with include`,
    ]),
  );
  for (const { name, refused, service, limit, namedLimit } of lists) {
    expect(refused, name).toBe(undefined);
    for (const figures of [service, limit, namedLimit]) expect(figures?.['requestsPerSecond'], name).toBeGreaterThan(0);
  }
  expect(stderr).toContain('seeding 3000 entities: 100 %');
}, 180_000);

test('makes the entities once in a directory that is given, and measures the peers', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bench-lists-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { DATABASE_URL: _, ...env } = process.env;
  const lists = async (...options: string[]) =>
    await promisify(execFile)(
      process.execPath,
      [
        'scripts/bench/main.ts',
        'lists',
        '--entities',
        '1000',
        '--seconds',
        '0.2',
        '--rounds',
        '1',
        '--json',
        '--directory',
        directory,
        ...options,
      ],
      { env },
    );
  expect((await lists()).stderr).toContain('seeding 1000 entities');
  const { stdout, stderr } = await lists('--peers');
  expect(stderr).not.toContain('seeding');
  for (const { name, peers = {} } of (JSON.parse(stdout) as Report).lists) {
    expect(Object.keys(peers), name).toEqual([expect.stringContaining('Parse Server'), expect.stringContaining('Directus')]);
    for (const figures of Object.values(peers)) expect(figures['requestsPerSecond'], name).toBeGreaterThan(0);
  }
}, 600_000);

test('says what it does not understand', async () => {
  const status = (...options: string[]) =>
    run(...options).catch(({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }));
  expect(await status('--entities', '5')).toMatchObject({ code: 2, stderr: expect.stringContaining('--entities must be') });
  expect(await run('--help')).toMatchObject({ stdout: expect.stringContaining('--connections N') });
});
