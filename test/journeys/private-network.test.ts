import { expect, test, vi } from 'vitest';
import { clientOf } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { expectStopped, npmStart } from '../support/start.ts';
import { fixedPort } from '../support/fixed-port.ts';

vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

test('on plain http at a private address people sign in, other origins are refused, and the log says what is given up (rules 9 and 28)', async () => {
  const database = await createDatabase();
  const port = await fixedPort();
  const publicUrl = `http://192.168.1.20:${port}`;
  const settings = { HTTP_ON_PRIVATE_NETWORK: 'on', PUBLIC_URL: publicUrl, DATABASE_URL: database.url, ADMIN_PASSWORD: adminPassword };
  const service = await npmStart(settings, { port });
  await service.ready;
  const signIn = (origin: string) =>
    fetch(`${service.url}/auth`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ user: 'admin', password: adminPassword }),
    });

  const answer = await signIn(publicUrl);
  expect(answer.status).toBe(200);
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^sid=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/)]);
  expect(answer.headers.get('strict-transport-security')).toBeNull();
  expect((await signIn('http://192.168.1.21')).status).toBe(403);
  const client = clientOf(service);
  await client.createSession({ user: 'admin', password: adminPassword });
  expect((await client.getSession()).user.name).toBe('admin');

  service.signal('SIGTERM');
  await expectStopped(service);
  expect(service.log()).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      event: 'configuration.risky',
      msg: expect.stringMatching(/^HTTP_ON_PRIVATE_NETWORK is on: /),
    }),
  );
  await database.drop();
});
