/** Runs the examples of docs/history.md, from the first to the last. */
import { beforeAll, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import type { Entity } from '../support/entities.ts';
import { readDocument } from '../support/markdown.ts';
import { password, useService } from '../support/service.ts';

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
let customer: Entity;

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  const create = await service().call<Entity>('POST', '/rest/entity/customer', {
    cookie,
    json: { company: 'Analytical Engines Ltd', city: 'London' },
  });
  customer = create.body;
  await service().call('POST', `/rest/entity/customer/${customer.key}`, { cookie, json: { city: 'Paris' } });
});

const send = ({ method, path, headers }: (typeof commands)[number]) =>
  service().call<Entity & { items: unknown[] }>(method, path.replace('$CUSTOMER', customer.key), { cookie, headers });

test('the commands do what the page says', async () => {
  const answers = [];
  for (const command of commands) answers.push(await send(command));
  const [history, version, restore] = answers;
  expect(commands).toHaveLength(3);
  expect(history?.body.items[0]).toMatchObject(shown);
  expect(version?.body).toEqual(customer);
  expect(restore?.status).toBe(200);
  expect(restore?.body).toMatchObject({ version: 3, fields: customer.fields });
});

test('the client has the calls that the page shows', async () => {
  const client = clientOf(service());
  await client.createSession({ user: 'ada', password });
  const customers = client.entities('customer');
  const { items } = await customers.history(customer.key);
  expect(items.length).toBeGreaterThanOrEqual(3);
  const restored = await customers.restore(customer.key, 1);
  expect(restored.fields).toEqual(customer.fields);
  for (const call of ["client.entities('customer')", 'customers.history(key)', 'customers.restore(key, 1)']) expect(page).toContain(call);
});
