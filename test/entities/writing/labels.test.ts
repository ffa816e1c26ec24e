/** The name of an entity follows its fields on every road that writes. */
import { beforeAll, expect, test } from 'vitest';
import { declareType, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type ProblemBody } from '../../support/service.ts';

type Body = Entity & ProblemBody & { label?: string; items: { key: string; label?: string }[] };

const text = { type: 'string' };
const service = useService();
let cookie = '';

const send = (method: string, path: string, json?: object): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { cookie, ...(json && { json }) });
const labelOf = async (key: string): Promise<string | undefined> => (await send('GET', `entity/person/${key}?labels=1`)).body.label;
const sorted = async () => (await send('GET', 'entity/person?labels=1&sort=$label')).body.items.map(({ label }) => label);

beforeAll(async () => {
  const { id } = await service().createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'type'] });
  cookie = await service().openSession(id);
  await declareType(service(), 'boss', { type: 'object' });
  await declareType(service(), 'person', {
    type: 'object',
    'x-label': ['name.last', 'born'],
    'x-index': [['$label']],
    'x-soft-delete': true,
    'x-unique': [{ fields: ['email'] }],
    'x-references': { boss: { to: 'boss', onDelete: 'set-null' } },
    properties: {
      email: text,
      name: { type: 'object', properties: { last: text } },
      born: { type: 'integer' },
      boss: { type: ['string', 'null'], format: 'int64' },
    },
  });
});

test('create, update, upsert, batch, import, deletion of a target, restore', async () => {
  const { key: boss } = (await send('POST', 'entity/boss', {})).body;
  const { key } = (await send('POST', 'entity/person', { email: 'a', name: { last: 'Byron' }, born: 1815, boss })).body;
  expect(await labelOf(key)).toBe('Byron, 1815');
  await send('POST', `entity/person/${key}`, { name: { last: 'Lovelace' } });
  expect(await labelOf(key)).toBe('Lovelace, 1815');
  await send('POST', `entity/person/${key}`, { boss, email: 'b' });
  expect(await labelOf(key)).toBe('Lovelace, 1815');
  await send('POST', 'entity/person/upsert?by=email', { email: 'b', born: 1816 });
  expect(await labelOf(key)).toBe('Lovelace, 1816');
  await send('POST', 'batch', { operations: [{ op: 'update', name: 'person', key, fields: { born: null } }] });
  expect(await labelOf(key)).toBe('Lovelace');
  const imported = await service().call('POST', '/rest/entity/person/import?by=email&mode=merge', {
    cookie,
    headers: { 'content-type': 'application/x-ndjson' },
    raw: '{"email":"b","born":1817}\n{"email":"c","name":{"last":"Babbage"}}\n',
  });
  expect(imported.status).toBe(200);
  expect(await sorted()).toEqual(['Babbage', 'Lovelace, 1817']);
  expect((await send('DELETE', `entity/boss/${boss}`)).status).toBe(204);
  expect((await send('GET', `entity/person/${key}`)).body.fields['boss']).toBeNull();
  expect(await labelOf(key)).toBe('Lovelace, 1817');
  expect((await send('DELETE', `entity/person/${key}`)).status).toBe(204);
  expect(await sorted()).toEqual(['Babbage']);
  expect((await send('POST', `entity/person/${key}/restore`)).status).toBe(200);
  expect(await sorted()).toEqual(['Babbage', 'Lovelace, 1817']);
  const { version } = (await send('GET', `entity/person/${key}`)).body;
  await send('POST', `entity/person/${key}`, { name: { last: 'King' } });
  expect(await sorted()).toEqual(['Babbage', 'King, 1817']);
  await send('POST', `entity/person/${key}/restore?version=${version}`);
  expect(await sorted()).toEqual(['Babbage', 'Lovelace, 1817']);
});
