/** A caller who may write a field and not read it learns nothing of its value by sending the right one (rule 180). */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
let root: Call;
let guesser: Call;
let n = 0;

const path = '/rest/entity/card';
const right = '4711';

beforeAll(async () => {
  const text = { type: 'string' };
  await declareType(service(), 'card', {
    type: 'object',
    properties: { number: text, note: text, pin: text, place: { type: 'object', properties: { pin: text } } },
    'x-unique': [{ fields: ['number'] }],
  });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  guesser = await callerWith(service(), 'guesser', [
    { entity: 'card', actions: ['create'] },
    { entity: 'card', actions: ['read', 'update'], rule: { filter: { note: { $exists: true } }, read: ['*', '-pin'] } },
  ]);
});

const send = (who: Call, method: string, rest: string, more: Call = {}) =>
  service().call<Entity & ProblemBody & { results: { status: number }[] }>(method, path + rest, { ...who, ...more });

async function newCard(): Promise<Entity> {
  n += 1;
  const { status, body } = await send(root, 'POST', '', { json: { number: `n${n}`, note: 'a', pin: right } });
  expect(status).toBe(201);
  return body;
}

const ndjson = (...rows: object[]): Call => ({
  raw: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  headers: { 'content-type': 'application/x-ndjson' },
});

/** Each road by which a caller changes a card that exists to one with this pin, and else the same. */
const roads: [string, (who: Call, card: Entity, pin: string) => Promise<unknown>][] = [
  ['an update', (who, { key }, pin) => send(who, 'POST', `/${key}`, { json: { pin } })],
  [
    'an update with If-Match',
    (who, { key }, pin) => send(who, 'POST', `/${key}`, { json: { pin, note: 'a' }, headers: { 'if-match': '"1"' } }),
  ],
  [
    'an update with a key for repeats',
    (who, { key }, pin) => send(who, 'POST', `/${key}`, { json: { pin }, headers: { 'idempotency-key': `"${key}-${pin}"` } }),
  ],
  ['an upsert', (who, { fields }, pin) => send(who, 'POST', '/upsert?by=number', { json: { number: fields['number'], pin } })],
  [
    'a batch',
    (who, { key }, pin) =>
      service().call('POST', '/rest/batch', { ...who, json: { operations: [{ op: 'update', name: 'card', key, fields: { pin } }] } }),
  ],
  [
    'an import by key',
    (who, { key }, pin) =>
      send(who, 'POST', '/import?by=$key', { raw: `$key,pin\n${key},${pin}\n`, headers: { 'content-type': 'text/csv' } }),
  ],
  [
    'an import that merges',
    (who, { fields: { number } }, pin) => send(who, 'POST', '/import?mode=merge&by=number', ndjson({ number, pin })),
  ],
  [
    'an import that replaces',
    (who, { fields: { number } }, pin) => send(who, 'POST', '/import?mode=replace&by=number', ndjson({ number, note: 'a', pin })),
  ],
];

describe.each(roads)('%s', (_, change) => {
  test('the right and a wrong value of a hidden field both make a version, and give the same answer', async () => {
    const answers = [];
    for (const pin of [right, 'guess']) {
      const card = await newCard();
      const answer = (await change(guesser, card, pin)) as { status: number; text: string };
      expect(answer.status, answer.text).toBe(200);
      const { body } = await send(guesser, 'GET', `/${card.key}`);
      const history = await service().call<{ items: { version: number; changed?: string[] }[] }>(
        'GET',
        `${path}/${card.key}/history`,
        guesser,
      );
      const masked = answer.text.replaceAll(new RegExp(`"${card.key}"|"n${n}"|\\d{4}-[^"]+Z`, 'g'), '…');
      answers.push([answer.status, masked, body.version, history.body.items.map(({ version, changed }) => [version, changed])]);
      expect((await send(root, 'GET', `/${card.key}`)).body).toMatchObject({ version: 2, fields: { pin, note: 'a' } });
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  test('a caller who may read the field makes no version by the present value', async () => {
    const card = await newCard();
    await change(root, card, right);
    expect((await send(root, 'GET', `/${card.key}`)).body.version).toBe(1);
  });
});

test('no version without a hidden field, or beside one that stays', async () => {
  const card = await newCard();
  expect((await send(guesser, 'POST', `/${card.key}`, { json: { note: 'a' } })).body.version).toBe(1);
  expect((await send(guesser, 'POST', `/${card.key}`, { json: { note: 'b' } })).body.version).toBe(2);
  expect((await send(root, 'GET', `/${card.key}`)).body.fields).toMatchObject({ note: 'b', pin: right });
});
