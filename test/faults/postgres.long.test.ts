/** `npm run test:faults -- postgres` runs all breakages for longer; `outage.test.ts` calls every operation. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { newDataDir } from '../support/embedded.ts';
import { Proxy } from '../support/proxy.ts';
import { TestService } from '../support/service.ts';
import { breakPostgres, type PostgresTarget } from './postgres.ts';

let target: PostgresTarget;
let close: () => Promise<void>;
beforeAll(async () => {
  const dataDir = await newDataDir(afterAll);
  const embedded = await openEmbedded(dataDir, { settings: { fsync: 'off' }, tcp: true });
  const databaseUrl = embedded.url;
  await migrateDatabase(databaseUrl);
  const proxy = await Proxy.open(databaseUrl);
  const service = await TestService.start({}, { url: proxy.urlOf(databaseUrl), drop: async () => undefined });
  target = { dataDir, databaseUrl, proxy, port: Number(new URL(service.url).port), hasEnded: () => false };
  close = async () => {
    await service.close();
    await proxy.close();
    await embedded.stop();
  };
});
afterAll(() => close());

test('eight failures of PostgreSQL, a second each: 503, recovery in five seconds, no acknowledged write lost (rules 76 and 90)', async () => {
  const { violations } = await breakPostgres({ clients: 8, holdMilliseconds: 1_000 }, target, () => undefined);
  expect(violations).toEqual([]);
});
