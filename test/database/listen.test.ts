import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Client } from 'pg';
import { Listener } from '../../src/database/listen.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const opened: Listener[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((listener) => listener.close()));
});

/** A listener as another process would have it, with what it has heard. */
async function listen(): Promise<{ listener: Listener; heard: string[] }> {
  const heard: string[] = [];
  const ignore = () => undefined;
  const listener = new Listener(database.url, { onLine: ignore, onNotice: (notice) => heard.push(notice), onError: ignore });
  opened.push(listener);
  await listener.open();
  return { listener, heard };
}

const notify = (notice: string) => client.query("select pg_notify('principal', $1)", [notice]);

describe('what is revoked', () => {
  test('has been heard of by every process before the one that asks goes on (rule 17)', async () => {
    const [asking, ...others] = [await listen(), await listen(), await listen(), await listen()];
    for (let round = 0; round < 200; round++) {
      await notify(`session ${round}`);
      await asking.listener.settle();
      for (const { heard } of [asking, ...others]) expect(heard.at(-1)).toBe(`session ${round}`);
    }
  });

  test('may be asked about by several processes at once', async () => {
    const all = [await listen(), await listen(), await listen()];
    await notify('key abc');
    await Promise.all([...all, ...all].map(({ listener }) => listener.settle()));
    for (const { heard } of all) expect(heard).toEqual(['key abc']);
  });

  test('is waited for no longer than a process may remember it, when one does not answer or the line is down', async () => {
    const { listener } = await listen();
    const deaf = await listen();
    const begun = performance.now();
    await listener.settle();
    expect(performance.now() - begun).toBeLessThan(2_500);
    await deaf.listener.close();
    await client.query('select pg_advisory_lock_shared(1936941420, 1)');
    try {
      const before = performance.now();
      await listener.settle();
      expect(performance.now() - before).toBeGreaterThan(2_900);
    } finally {
      await client.query('select pg_advisory_unlock_all()');
    }
    await listener.close();
    const before = performance.now();
    await listener.settle();
    expect(performance.now() - before).toBeGreaterThan(2_900);
  });
});
