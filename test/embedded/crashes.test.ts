/** Crashes that could lose data. `crashes.long.test.ts` has the others. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { connect, isAlive, newDataDir, openUntilDone, serverPid, startService } from '../support/embedded.ts';

/** A cluster that these tests may crash: each begins and ends with its server stopped. */
const sharedDir = await newDataDir(afterAll);

/** Runs a service that writes rows and is killed meanwhile. Returns the number of rows that it reported as committed. */
async function writeUntilKilled(table: string, kill: (service: { signal(signal: 'SIGKILL'): void }) => Promise<void>): Promise<number> {
  const service = startService([sharedDir]);
  await service.next();
  service.send(`write ${table}`);
  let written = 0;
  while (written < 200) written = Number((await service.next())['written']);
  await kill(service);
  await service.ended;
  // The process is killed a moment after its server and may still report the loss.
  for await (const event of service.rest()) written = Number(event['written'] ?? written);
  return written;
}

test('the next process joins the server of a killed one, finds every acknowledged row and stops it (rule 91)', async () => {
  const written = await writeUntilKilled('after_kill', async (service) => service.signal('SIGKILL'));
  const orphan = await serverPid(sharedDir);
  expect(await isAlive(orphan)).toBe(true);

  const database = await openUntilDone(sharedDir);
  expect(database.origin).toBe('joined');
  const client = await connect(database.url);
  expect((await client.query('select count(*)::int as rows from after_kill where number <= $1', [written])).rows).toEqual([
    { rows: written },
  ]);

  await database.stop();
  expect(await isAlive(orphan)).toBe(false);
});

test('after a kill of the process and the server, the next start recovers every acknowledged row', async () => {
  const written = await writeUntilKilled('after_crash', async (service) => {
    process.kill((await serverPid(sharedDir)) ?? Number.NaN, 'SIGKILL');
    service.signal('SIGKILL');
  });

  const database = await openUntilDone(sharedDir);
  expect(database.origin).toBe('started');
  const client = await connect(database.url);
  expect((await client.query('select count(*)::int as rows from after_crash where number <= $1', [written])).rows).toEqual([
    { rows: written },
  ]);
});

test('a killed first start leaves no partial database, and the next one creates the database (rule 91)', async () => {
  const dataDir = await newDataDir();
  const service = startService([dataDir]);
  const half = await vi.waitFor(async () => {
    const name = (await readdir(dataDir)).find((name) => name.startsWith('building-')) ?? '';
    await stat(join(dataDir, name, 'data/base'));
    return name;
  }, 10_000);
  process.kill(service.pid, 'SIGKILL'); // the process alone: PostgreSQL's initdb continues
  await service.ended;
  expect(await readdir(dataDir)).toEqual([half]);

  expect((await openUntilDone(dataDir)).origin).toBe('created');
  expect(await readdir(dataDir)).toEqual(['postgres.log', 'postgresql']);
});
