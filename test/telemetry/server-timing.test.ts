import { expect, test } from 'vitest';
import { keysIn, list, seedMany } from '../support/lists.ts';
import { useService } from '../support/service.ts';

const service = useService({ NODE_ENV: 'development' });

test('in development an answer has the durations of authentication, the database and the whole request', async () => {
  const { id } = await service().createUser('ada');
  const cookie = await service().openSession(id);
  const answer = await service().call('GET', '/rest/entity/note/1', { cookie });
  expect(answer.status).toBe(404);
  const times = new Map(
    [...(answer.headers.get('server-timing') ?? '').matchAll(/(\w+);dur=(\d+\.\d\d)/g)].map(([, name = '', milliseconds]) => [
      name,
      Number(milliseconds),
    ]),
  );
  expect([...times.keys()]).toEqual(['auth', 'db', 'total']);
  for (const name of ['auth', 'db']) expect(times.get(name)).toBeLessThanOrEqual(times.get('total') ?? 0);
});

test('outside development no answer has them', async () => {
  const other = await service().replica({ NODE_ENV: '' });
  expect((await other.call('GET', '/health/live')).headers.has('server-timing')).toBe(false);
  await other.close();
});

test('in development the answer of a list has its access path, but for a caller of own rows (rule 161)', async () => {
  const eve = { cookie: await service().openSession((await service().createUser('eve')).id) };
  const { id } = await service().createUser('bob', { page: { actions: ['read'], condition: 'own' } });
  const bob = { cookie: await service().openSession(id) };
  const [own] = await seedMany(service(), 'page', [{ n: 1 }, { n: 2 }], 'eve', 'bob');
  const pathOf = ({ headers }: { headers: Headers }) => /path;desc="([^"]*)"/.exec(headers.get('server-timing') ?? '')?.[1];
  expect(pathOf(await list(service(), eve, 'page', { sort: ['n'] }))).toBe('sort of the primary key, at most 10000 rows');
  const answer = await list(service(), bob, 'page', { sort: ['n'] });
  expect([keysIn([answer.body]), answer.headers.has('server-timing'), pathOf(answer)]).toEqual([[own], true, undefined]);
});
