/** A start whose first connection is slow, and one that waits for another transaction while a type is applied. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/database/port.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { Proxy } from '../support/proxy.ts';
import { npmStart } from '../support/start.ts';
import { TestService } from '../support/service.ts';

/** The database behind a way on which each first answer takes 3 s. */
async function openSlow(): Promise<{ proxy: Proxy; url: string }> {
  const databaseUrl = await createDatabaseUntilDone();
  const proxy = await Proxy.open(databaseUrl);
  onTestFinished(() => proxy.close());
  proxy.slow(3_000);
  return { proxy, url: proxy.urlOf(databaseUrl) };
}

test('the service starts although its first connection takes 3 s', async () => {
  const { proxy, url } = await openSlow();
  const starting = TestService.start({}, { url, drop: async () => undefined });
  void delay(1_000).then(() => proxy.restore());
  const service = await starting;
  expect((await service.call('GET', '/health/ready')).status).toBe(200);
  await service.close();
});

test('later connections may take 2 s, since requests wait for them', async () => {
  const { proxy, url } = await openSlow();
  void delay(1_000).then(() => proxy.restore());
  const store = openStore(url, 3, () => undefined);
  onTestFinished(() => store.close());
  const find = () => store.db.selectFrom('user_account').select('id').execute();
  expect(await find()).toEqual([]);
  proxy.stall();
  await expect(find()).rejects.toThrow();
  const began = performance.now();
  await expect(find()).rejects.toThrow(/connection timeout|timeout exceeded/);
  expect(performance.now() - began).toBeLessThan(4_000);
});

test('a type that waits while the service starts has a line between the start and the port', async () => {
  const url = await createDatabaseUntilDone();
  const types = await mkdtemp(join(tmpdir(), 'slow-types-'));
  onTestFinished(() => rm(types, { recursive: true }));
  await writeFile(join(types, 'note.json'), JSON.stringify({ type: 'object' }));
  const holder = new Client({ connectionString: url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin; lock table entity_type in exclusive mode');
  const service = await npmStart({ DATABASE_URL: url, ENTITY_TYPES_DIR: types });
  const events = () => service.log().map(({ event }) => event);
  await expect.poll(events, { timeout: 30_000 }).toContain('type.applying');
  await holder.query('commit');
  await service.ready;
  await expect.poll(events).toContain('listening');
  expect(events().filter((event) => ['service.start', 'type.applying', 'type.applied', 'listening'].includes(String(event)))).toEqual([
    'service.start',
    'type.applying',
    'type.applied',
    'listening',
  ]);
  expect(service.log()).toContainEqual(expect.objectContaining({ event: 'type.applying', type: 'note', durationMs: expect.any(Number) }));
});
