/** The faults of a type tell a caller of no field that no grant shows or lets be written (rules 171 and 177). */
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../../support/entities.ts';
import { callerWith } from '../../support/rules.ts';
import { useService, type Call } from '../../support/service.ts';

const service = useService();
const text = { type: 'string' };
const known = { region: text, state: { enum: ['draft', 'open'] }, note: text };
let clerk: Call;
let plain: Call;
let manager: Call;

beforeAll(async () => {
  const hidden = { grade: { enum: ['gold', 'silver'] }, margin: { ...text, format: 'decimal', 'x-sensitive': true } };
  const type = { type: 'object', additionalProperties: false };
  await declareType(service(), 'hiding', { ...type, properties: { ...known, ...hidden }, 'x-unique': [{ fields: ['note'] }] });
  await declareType(service(), 'lacking', { ...type, properties: known, 'x-unique': [{ fields: ['note'] }] });
  await declareType(service(), 'counting', {
    ...type,
    properties: { ...known, ...hidden },
    required: ['region', 'grade'],
    maxProperties: 2,
    dependentRequired: { note: ['margin'] },
    propertyNames: { maxLength: 6, enum: ['region', 'state', 'note', 'grade', 'margin'] },
  });
  const lists = { read: ['*', '-grade', '-margin'], write: ['*', '-grade', '-margin'] };
  clerk = await callerWith(
    service(),
    'clerk',
    ['hiding', 'lacking', 'counting'].map((entity) => ({ entity, actions: ['create', 'read', 'update'], rule: lists })),
  );
  plain = { cookie: await service().openSession((await service().createUser('plain')).id) };
  manager = await callerWith(service(), 'manager', [
    { entity: '*', actions: ['create', 'read', 'update'], rule: { read: ['**'], write: ['**'] } },
  ]);
});

const wrong = { nosuch: 1, state: 'closed' };
const line = `${JSON.stringify(wrong)}\n`;
const ndjson = { 'content-type': 'application/x-ndjson' };
/** A request to each operation that checks new fields against the type. */
const roads: [operation: string, method: string, path: string, call: Call][] = [
  ['createEntity', 'POST', 'entity/NAME', { json: wrong }],
  ['createEntities', 'POST', 'entity/NAME/bulk', { json: [wrong] }],
  ['upsertEntity', 'POST', 'entity/NAME/upsert?by=note', { json: { ...wrong, note: 'new' } }],
  ['runBatch', 'POST', 'batch', { json: { operations: [{ op: 'create', name: 'NAME', fields: wrong }] } }],
  ['importEntities', 'POST', 'entity/NAME/import', { raw: line, headers: ndjson }],
  [
    'importEntities by a rule',
    'POST',
    'entity/NAME/import?by=note',
    { raw: `${JSON.stringify({ ...wrong, note: 'other' })}\n`, headers: ndjson },
  ],
  [
    'importEntities with replace',
    'POST',
    'entity/NAME/import?by=note&mode=replace',
    { raw: `${JSON.stringify({ ...wrong, note: 'third' })}\n`, headers: ndjson },
  ],
];

/** The answer of a road for entities of the name, without the parts that differ in each answer. */
async function answerOf(who: Call, name: string, [, method, path, call]: (typeof roads)[number]): Promise<string> {
  const named = JSON.parse(JSON.stringify(call).replaceAll('NAME', name)) as Call;
  const { status, text: said } = await service().call(method, `/rest/${path.replace('NAME', name)}`, { ...who, ...named });
  return `${status} ${said.replaceAll(/urn:uuid:[0-9a-f-]+/g, 'urn').replaceAll(name, 'NAME')}`;
}

test.each(roads)('422 — %s answers as if there were no hidden field, and lists no name of it (rules 171 and 177)', async (...road) => {
  const answer = await answerOf(clerk, 'hiding', road);
  expect(answer).toBe(await answerOf(clerk, 'lacking', road));
  expect(answer).toContain('region, state, note');
  expect(answer).toContain('draft, open');
  // The one field that is sensitive is hidden from a caller without rules.
  const ofPlain = await answerOf(plain, 'hiding', road);
  expect(ofPlain).toContain('region, state, note, grade');
  expect(ofPlain).not.toContain('margin');
  expect(await answerOf(manager, 'hiding', road)).toContain('region, state, note, grade, margin');
});

test('422 — an update lists the names that the caller knows (rules 171 and 177)', async () => {
  const { body } = await service().call<{ key: string }>('POST', '/rest/entity/hiding', {
    ...manager,
    json: { region: 'north', grade: 'gold' },
  });
  const update = async (who: Call, json: object) =>
    (await service().call('POST', `/rest/entity/hiding/${body.key}`, { ...who, json })).body.errors;
  expect(await update(clerk, { nosuch: 1 })).toMatchObject([
    { pointer: '/nosuch', code: 'unknown', expected: 'one of region, state, note' },
  ]);
  expect(await update(manager, { nosuch: 1 })).toMatchObject([{ expected: 'one of region, state, note, grade, margin' }]);
  expect(await update(clerk, { state: 'closed' })).toMatchObject([{ pointer: '/state', expected: 'one of draft, open' }]);
});

test('422 — a hidden field that is missing, a count of members and names of members say nothing of hidden fields (rules 171 and 177)', async () => {
  const create = async (who: Call, json: object) =>
    (await service().call('POST', '/rest/entity/counting', { ...who, json })).body.errors?.map(({ detail: _, ...fault }) => fault);
  expect(await create(clerk, { region: 'north' })).toEqual([{ pointer: '', code: 'required' }]);
  expect(await create(manager, { region: 'north' })).toEqual([{ pointer: '/grade', code: 'required', expected: 'one of gold, silver' }]);
  expect(JSON.stringify(await create(clerk, { region: 'north', note: 'a', state: 'open' }))).not.toMatch(/grade|gold|margin|decimal|2/);
  expect(JSON.stringify(await create(clerk, { region: 'north', nosuch: 'a' }))).not.toMatch(/grade|gold|margin/);
  expect(JSON.stringify(await create(manager, { region: 'north', nosuch: 'a' }))).toMatch(/grade.*margin/);
});

test('409 — a conflict names the fields of its rule that the caller knows alone (rules 171 and 177)', async () => {
  const properties = { number: text, tenant: { ...text, 'x-sensitive': true } };
  const unique = [{ fields: ['tenant', 'number'] }, { fields: ['tenant'] }];
  const preset = { read: ['*'], write: ['*'], set: { tenant: 'ours' } };
  for (const [name, rules] of [
    ['pair', unique.slice(0, 1)],
    ['single', unique.slice(1)],
  ] as const) {
    await declareType(service(), name, { type: 'object', properties, 'x-unique': rules });
    expect((await service().call('POST', `/rest/entity/${name}`, { ...manager, json: { number: '1', tenant: 'ours' } })).status).toBe(201);
  }
  // `tenant` is written by a rule of somebody else, and neither shown to the updater nor written by it.
  const updater = await callerWith(service(), 'updater', [{ entity: '*', actions: ['create', 'read', 'update'] }]);
  const filler = await callerWith(
    service(),
    'filler',
    ['pair', 'single'].map((entity) => ({ entity, actions: ['create'], rule: preset })),
  );
  const conflict = async (who: Call, method: string, path: string, json: object) => {
    const { status, body } = await service().call(method, `/rest/${path}`, { ...who, json });
    expect(status).toBe(409);
    return body.errors?.map(({ pointer, code }) => `${code} ${pointer}`);
  };
  expect(await conflict(filler, 'POST', 'entity/pair', { number: '1' })).toEqual(['duplicate-value /tenant', 'duplicate-value /number']);
  const { body } = await service().call<{ key: string }>('POST', '/rest/entity/pair', {
    ...manager,
    json: { number: '2', tenant: 'ours' },
  });
  expect(await conflict(updater, 'POST', `entity/pair/${body.key}`, { number: '1' })).toEqual(['duplicate-value /number']);
  const batch = { operations: [{ op: 'update', name: 'pair', key: body.key, fields: { number: '1' } }] };
  expect(JSON.stringify(await conflict(updater, 'POST', 'batch', batch))).not.toContain('tenant');
  const line = { ...updater, raw: `$key,number\n${body.key},1\n`, headers: { 'content-type': 'text/csv' } };
  const imported = await service().call('POST', '/rest/entity/pair/import?by=$key', line);
  expect(imported.text).toContain('/number');
  expect(imported.text).not.toContain('tenant');
});
