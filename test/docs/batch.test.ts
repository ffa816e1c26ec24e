/** Runs the examples of docs/batch.md. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Batch } from '../../src/client/index.ts';
import { clientOf } from '../support/client.ts';
import { declareType, rowsOf, type Entity } from '../support/entities.ts';
import { readDocument, section } from '../support/markdown.ts';
import { password, useService } from '../support/service.ts';

const service = useService();
const page = readDocument('docs/batch.md');
const jsonIn = (title: string) => /```json\n(.*?)\n```/s.exec(section(page, title))?.[1] ?? '';
let cookie: string;
let customer: string;

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  for (const name of ['customer', 'order', 'line']) {
    const document: unknown = parse(readFileSync(new URL(`../../examples/types/${name}.yaml`, import.meta.url), 'utf8'));
    await declareType(service(), name, document as Record<string, unknown>);
  }
  const json = { company: 'Analytical Engines Ltd', email: 'a@engines.example' };
  customer = (await service().call<Entity>('POST', '/rest/entity/customer', { cookie, json })).body.key;
});

test('the batch creates an order with its lines, and changes the customer', async () => {
  const json: unknown = JSON.parse(jsonIn('## An order with its lines').replaceAll('$CUSTOMER', customer));
  const answer = await service().call<{ results: { status: number; entity: Entity }[] }>('POST', '/rest/batch', { cookie, json });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.results.map(({ status }) => status)).toEqual([201, 201, 201, 200]);
  const [order, line] = answer.body.results;
  expect(line?.entity.fields['order']).toBe(order?.entity.key);
});

test('the client sends the batch of the page', async () => {
  const code = /```ts\n(.*?)\n```/s.exec(page)?.[1] ?? '';
  const client = clientOf(service());
  await client.createSession({ user: 'ada', password });
  const module = `export const run = async (Batch, client, customer) => { ${code}; return results; }`;
  const { run } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as {
    run: (...values: unknown[]) => Promise<{ status: number }[]>;
  };
  expect((await run(Batch, client, customer)).map(({ status }) => status)).toEqual([201, 201]);
});

test('the bulk creates both customers, and names a value that another one has', async () => {
  const items = JSON.parse(jsonIn('## Many entities of one name')) as object[];
  const bulk = (json: unknown) => service().call<{ items: unknown[] }>('POST', '/rest/entity/customer/bulk', { cookie, json });
  expect((await bulk(items)).body.items).toHaveLength(2);
  const again = await service().call('POST', '/rest/entity/customer/bulk', {
    cookie,
    json: [{ company: 'x', email: 'x@y.example' }, items[1]],
  });
  expect([again.status, again.body.errors?.[0]?.pointer]).toEqual([409, '/1/email']);
  expect(await rowsOf(service(), 'customer')).toHaveLength(3);
});
