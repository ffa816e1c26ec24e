/** The limit for each user, which RATE_LIMIT_PER_USER sets in requests per second. It is off by default (security rule 81). */
import { expect, test } from 'vitest';
import { useService } from '../support/service.ts';

const service = useService({ RATE_LIMIT_PER_USER: '2' });

test('429 — a user above the limit is refused, with any credentials, while others are served (rule 81)', async () => {
  const { id } = await service().createUser('ada');
  await service().createUser('grace');
  const [cookie, other] = [await service().openSession(id), await service().signIn('grace')];
  const keys = [await service().createKey(id), await service().createKey(id)].map((key) => ({ headers: { 'x-api-key': key } }));
  const credentials = [{ cookie }, { cookie: await service().openSession(id) }, ...keys];
  const start = performance.now();
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => service().call('GET', '/auth', credentials[n % 4])));
  const seconds = (performance.now() - start) / 1_000;
  const served = answers.filter(({ status }) => status === 200).length;
  const refused = answers.filter(({ status }) => status === 429);
  expect(served).toBeGreaterThanOrEqual(10);
  expect(served).toBeLessThanOrEqual(10 + Math.ceil(2 * seconds));
  expect(refused).toHaveLength(40 - served);
  expect(refused.length).toBeGreaterThan(0);
  expect(Object.fromEntries(refused[0]?.headers ?? [])).toMatchObject({
    'retry-after': '1',
    'ratelimit-policy': '"user";q=10;w=5',
    ratelimit: '"user";r=0;t=1',
  });
  expect((await service().call('GET', '/auth', { cookie: other })).status).toBe(200);
  expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status, 'a logout is always allowed').toBe(204);
  const events = await service().db.selectFrom('audit_event').where('event', '=', 'rate.limited').select(['user_name', 'detail']).execute();
  expect(events).toEqual([{ user_name: 'ada', detail: { operation: 'getSession', limit: 'user' } }]);
});

test('200 — without the setting there is no limit (rule 81)', async () => {
  const free = await service().replica({ RATE_LIMIT_PER_USER: '0' });
  const { id } = await free.createUser('joan');
  const cookie = await free.openSession(id);
  const answers = await Promise.all(Array.from({ length: 60 }, () => free.call('GET', '/auth', { cookie })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await free.close();
});
