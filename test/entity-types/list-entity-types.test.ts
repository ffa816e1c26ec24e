/** `GET /rest/entity-type`: the types of the names that the caller may declare. */
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
const list = (cookie: string) => service().call<{ types: { name: string }[] }>('GET', '/rest/entity-type', { cookie });

beforeAll(async () => {
  for (const name of ['order', 'customer']) await declareType(service(), name, { type: 'object', title: name });
});

test('200 — lists the types by name, without documents', async () => {
  const { id } = await service().createUser('ada', { '*': ['type'] });
  const answer = await list(await service().openSession(id));
  expect(answer.status).toBe(200);
  const common = {
    revision: expect.stringMatching(/^\d+$/),
    source: 'command',
    appliedAt: expect.any(String),
    appliedBy: 'entity-service',
  };
  expect(answer.body.types).toEqual([
    { name: 'customer', ...common },
    { name: 'order', ...common },
  ]);
});

test('200 — leaves out names on which the caller has not the action `type`, and a key whose scopes lack it gets none (rule 62)', async () => {
  const { id } = await service().createUser('bob', { order: ['type'], customer: ['create', 'read', 'update', 'delete'] });
  expect((await list(await service().openSession(id))).body.types.map(({ name }) => name)).toEqual(['order']);
  const narrow = await service().createKey(id, { scopes: [{ entity: '*', actions: ['read'] }] });
  const answer = await service().call<{ types: unknown[] }>('GET', '/rest/entity-type', { headers: { 'x-api-key': narrow } });
  expect(answer.body.types).toEqual([]);
});

test('401 — without a credential', async () => {
  expect((await service().call('GET', '/rest/entity-type')).status).toBe(401);
});
