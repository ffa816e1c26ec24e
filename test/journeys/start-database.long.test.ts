/** More of `npm start` on a given database than in `start-database.test.ts`. */
import { expect, test, vi } from 'vitest';
import { createDatabaseUntilDone } from '../support/database.ts';
import { Proxy } from '../support/proxy.ts';
import { expectStopped, npmStart, signIn } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

test('ADMIN_USER and ADMIN_PASSWORD are ignored once there is a user', async () => {
  const settings = { DATABASE_URL: await createDatabaseUntilDone(), RATE_LIMIT: 'off' };
  const first = await npmStart({ ...settings, ADMIN_USER: 'Grace', ADMIN_PASSWORD: adminPassword });
  await first.ready;
  first.signal('SIGTERM');
  await expectStopped(first);
  const service = await npmStart({ ...settings, ADMIN_USER: 'mallory', ADMIN_PASSWORD: 'another quite unguessable phrase' });
  await service.ready;
  await signIn(service, 'grace', adminPassword);
  await expect(signIn(service, 'mallory', 'another quite unguessable phrase')).rejects.toMatchObject({ code: 'invalid-credentials' });
  service.signal('SIGTERM');
  await expectStopped(service);
});

test('the log names the setting of a lost notification connection', async () => {
  const url = await createDatabaseUntilDone();
  const cable = await Proxy.open(url);
  const service = await npmStart({ DATABASE_URL: url, ADMIN_PASSWORD: adminPassword, DATABASE_DIRECT_URL: cable.urlOf(url) });
  await service.ready;
  await cable.cut();
  const { port } = new URL(cable.urlOf(url));
  const lost = `notifications do not arrive: PostgreSQL at 127.0.0.1:${port}/`;
  const isNamed = ({ event, msg }: Record<string, unknown>) =>
    event === 'outage' && String(msg).startsWith(lost) && String(msg).includes(' (DATABASE_DIRECT_URL) refuses connections: start it');
  await expect.poll(() => service.log().some(isNamed)).toBe(true);
  service.signal('SIGTERM');
  await expectStopped(service);
});
