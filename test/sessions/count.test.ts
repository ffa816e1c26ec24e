import { expect, test } from 'vitest';
import { countLive } from '../../src/sessions/count.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('counts the live sessions, up to the limit', async () => {
  const { id } = await service().createUser('ada');
  const { db } = service();
  for (let session = 0; session < 3; session++) await service().openSession(id);
  expect(await countLive(db, 10)).toBe(3);
  expect(await countLive(db, 2)).toBe(2);
  const ended = service().call('HEAD', '/auth?logout=1', { cookie: await service().openSession(id) });
  expect((await ended).status).toBe(204);
  expect(await countLive(db, 10)).toBe(3);
});
