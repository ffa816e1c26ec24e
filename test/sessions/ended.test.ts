/** After anything that ends a session is acknowledged, all its tokens are refused (security rules 14 and 17). */
import { expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { cookieOf, password, TestService, useService } from '../support/service.ts';

const service = useService();
const next = 'seven quiet lanterns drift north';
let users = 0;

type End = (session: { user: string; cookie: string; other: string }) => Promise<number>;

const status = async (at: TestService, cookie: string) => (await at.call('GET', '/rest/entity/note/1', { cookie })).status;

test.each<[string, End]>([
  ['a logout', async ({ cookie }) => (await service().call('HEAD', '/auth?logout=1', { cookie })).status],
  [
    'a new password',
    async ({ other }) => {
      const form = { 'current-password': password, 'set-password': next, 'confirm-password': next };
      return (await service().call('POST', '/auth/password', { cookie: other, form })).status;
    },
  ],
  [
    'a revocation',
    async ({ cookie, other }) => {
      const { session } = (await service().call<{ session: { id: string } }>('GET', '/auth', { cookie })).body;
      return (await service().call('DELETE', `/auth/sessions/${session.id}`, { cookie: other })).status;
    },
  ],
  [
    'disabling the user',
    async ({ user }) => {
      await new AdminCommand(service().databaseUrl).say(['user', 'disable', user]);
      return 204;
    },
  ],
])(
  '401 — after %s, for the present and the previous token, on a replica that has just served it and after a restart (rules 14 and 17)',
  async (_what, end) => {
    const user = `user${users++}`;
    await service().createUser(user);
    const [first, other] = [await service().signIn(user), await service().signIn(user)];
    const cookie = cookieOf(await service().call('POST', '/auth/refresh', { cookie: first }));
    const replica = await service().replica();
    for (const at of [service(), replica]) expect([await status(at, cookie), await status(at, first)]).toEqual([404, 404]);
    expect(await end({ user, cookie, other })).toBe(204);
    const restarted = await service().replica();
    for (const at of [service(), replica, restarted]) expect([await status(at, cookie), await status(at, first)]).toEqual([401, 401]);
    await replica.close();
    await restarted.close();
  },
);
