/** Runs the examples of docs/history.md, from the first to the last. */
import { beforeAll, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { readDocument } from '../support/markdown.ts';
import { password, useService } from '../support/service.ts';
import { tickNow } from '../support/ticks.ts';

const service = useService();
const page = readDocument('docs/history.md');
const commands = [...page.matchAll(/^curl (?:-X (\w+) )?"\$BASE([^"]+)"(?: -H '([\w-]+): ([^']+)')?/gm)].map(
  ([, method = 'GET', path = '', header, value]) => ({
    method,
    path,
    headers: header !== undefined && value !== undefined ? { [header]: value } : {},
  }),
);
const shown = JSON.parse(/```json\n(.*?)\n```/s.exec(page)?.[1] ?? '') as Record<string, unknown>;
let cookie: string;

const made = async (): Promise<Entity> => {
  const { body } = await service().call<Entity>('POST', '/rest/entity/product', { cookie, json: { name: 'Cog', price: '19.99' } });
  await service().call('POST', `/rest/entity/product/${body.key}`, { cookie, json: { price: '1999.00' } });
  return body;
};

beforeAll(async () => {
  await declareType(service(), 'product', { type: 'object', 'x-soft-delete': true });
  const grants = { product: ['create', 'read', 'update', 'delete', 'purge'] as const };
  cookie = await service().openSession((await service().createUser('ada', { product: [...grants.product] })).id);
});

test('the commands do what the page says', async () => {
  const product = await made();
  const position = await tickNow(service());
  const { at } = await service().db.selectFrom('feed_tick').where('n', '=', position).select('at').executeTakeFirstOrThrow();
  const answers = [];
  for (const { method, path, headers } of commands) {
    const target = path.replace('$PRODUCT', product.key).replace(/(?<=asOf=).*/, new Date(at.getTime() + 1).toISOString());
    answers.push(await service().call<Entity & { items: Entity[] }>(method, target, { cookie, headers }));
  }
  const [history, version, restore, past, deletion, trash, trashed, undeletion, purge] = answers;
  expect(commands).toHaveLength(9);
  expect(history?.body.items[0]).toMatchObject(shown);
  expect(version?.body).toMatchObject({ version: 1, fields: product.fields });
  expect(past?.body).toMatchObject({ version: 2, fields: shown['fields'] });
  expect(past?.headers.get('content-location')).toBe(`/rest/entity/product/${product.key}?asOf=${position}`);
  expect([restore?.status, restore?.body]).toMatchObject([200, { version: 3, fields: product.fields }]);
  expect(deletion?.status).toBe(204);
  expect(trash?.body.items).toEqual([expect.objectContaining({ key: product.key, deletedBy: 'ada', fields: product.fields })]);
  expect(trashed?.body).toEqual(trash?.body.items[0]);
  expect(undeletion?.body).toMatchObject({ key: product.key, version: 4, fields: product.fields });
  expect(purge?.status).toBe(204);
  expect((await service().call('GET', `/rest/entity/product/${product.key}/history`, { cookie })).status).toBe(404);
});

test('the client has the calls that the page shows', async () => {
  const { key, fields } = await made();
  const client = clientOf(service());
  await client.createSession({ user: 'ada', password });
  const products = client.entities('product');
  expect((await products.history(key)).items).toHaveLength(2);
  expect((await products.restore(key, 1)).fields).toEqual(fields);
  const position = await tickNow(service());
  expect((await products.get(key, { asOf: position })).version).toBe(3);
  await products.delete(key);
  const found: unknown[] = [];
  for await (const product of products.trash()) found.push([product.key, product.deletedBy]);
  expect(found).toEqual([[key, 'ada']]);
  expect((await products.restore(key)).fields).toEqual(fields);
  await products.purge(key);
  await expect(products.get(key)).rejects.toMatchObject({ code: 'not-found' });
  const calls = [
    'history(key)',
    "get(key, { asOf: '2026-11-22T18:00:00Z' })",
    'restore(key, 1)',
    'trash()',
    'restore(key)',
    'purge(key)',
  ].map((call) => `products.${call}`);
  for (const call of ["client.entities('product')", ...calls]) expect(page).toContain(call);
});
