import { expect, test } from 'vitest';
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
