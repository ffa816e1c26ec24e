/** What a process remembers of the keys in `service_secret`. `service-secret rotate` has tests in `journeys/secret-rotation.test.ts`. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { secretNamed, ServiceSecrets } from '../../src/database/service-secrets.ts';
import { useService } from '../support/service.ts';

const service = useService();

const replaceKey = (text: string) =>
  sql`update service_secret set value = sha256(${text}::bytea) where name = 'cursor'`.execute(service().db);
const keyOf = async (secrets: ServiceSecrets) => secretNamed(await secrets.current(), 'cursor').toString('hex');
const renameTable = (from: string, to: string) => sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(service().db);

test('a key is remembered while notices of changes arrive, and is read each time without them (rule 87)', async () => {
  const secrets = new ServiceSecrets(service().db);
  const first = await keyOf(secrets);
  await replaceKey('second');
  const second = await keyOf(secrets);
  expect(second).not.toBe(first);

  secrets.enable(true);
  expect(await keyOf(secrets)).toBe(second);
  await replaceKey('third');
  expect(await keyOf(secrets)).toBe(second);
  expect(await secrets.current()).toBe(await secrets.current());
  secrets.forget();
  const third = await keyOf(secrets);
  expect(third).not.toBe(second);

  await replaceKey('fourth');
  secrets.enable(false);
  expect(await keyOf(secrets)).not.toBe(third);
});

test('a failure is not remembered', async () => {
  const secrets = new ServiceSecrets(service().db);
  secrets.enable(true);
  await renameTable('service_secret', 'service_secret_away');
  await expect(secrets.current()).rejects.toThrow('service_secret');
  await renameTable('service_secret_away', 'service_secret');
  expect(await keyOf(secrets)).toMatch(/^[0-9a-f]{64}$/);
});
