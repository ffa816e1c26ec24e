import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { declareWithRules } from '../../support/companions.ts';
import { declareType, rowsOf, type Entity } from '../../support/entities.ts';
import { writeTypes } from '../../support/lists.ts';
import { race, statuses } from '../../support/races.ts';
import { useService, type Answer, type Call, type ProblemBody, type TestService } from '../../support/service.ts';

const service = useService();
let cookie: string;
const text = { type: ['string', 'null'] };

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declareWithRules(service(), 'customer', {
    required: ['company'],
    properties: {
      email: text,
      country: text,
      number: { type: 'integer' },
      company: { type: 'string' },
      address: { type: 'object', properties: { code: text } },
    },
    'x-unique': [{ fields: ['email'], fold: true }, { fields: ['country', 'number'] }, { fields: ['address.code'] }],
  });
});

type Body = Entity & ProblemBody;
const upsert = (by: string, json: object, call: Call = {}, at: TestService = service()): Promise<Answer<Body>> =>
  at.call<Body>('POST', `/rest/entity/customer/upsert?by=${by}`, { cookie, json, ...call });
const json = { 'content-type': 'application/json' };
const company = 'Analytical Engines Ltd';
const versionOf = async (key: string) => (await rowsOf(service(), 'customer')).find((row) => row.key === key)?.version;
const events = async (key: string) => {
  const { rows } = await sql<{ event: string }>`select event from audit_event where detail ->> 'key' = ${key} order by id`.execute(
    service().db,
  );
  return rows.map(({ event }) => event);
};

describe('upsertEntity', () => {
  test('201 and 200 — creates the entity, then merges into it', async () => {
    const first = await upsert('email', { email: 'Ada@example.com', company });
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toMatch(new RegExp(`/rest/entity/customer/${first.body.key}$`));
    const second = await upsert('email', { email: 'ada@EXAMPLE.com', number: 5 });
    expect(second.status).toBe(200);
    expect(second.headers.get('etag')).toBe('"2"');
    expect(second.body).toMatchObject({ key: first.body.key, version: 2, fields: { email: 'ada@EXAMPLE.com', company, number: 5 } });
    expect(await events(first.body.key)).toEqual(['entity.created', 'entity.updated']);
  });

  test('200 — a merge that changes nothing makes no version and no event, whether or not the entity is heavy', async () => {
    for (const fields of [
      { email: 'same@example.com', company },
      { email: 'heavy@example.com', company, note: 'x'.repeat(20_000) },
    ]) {
      const { body } = await upsert('email', fields);
      for (const again of [fields, { email: fields.email }]) {
        const answer = await upsert('email', again);
        expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"1"']);
        expect(answer.body.fields).toEqual(fields);
      }
      expect(await events(body.key)).toEqual(['entity.created']);
    }
  });

  test('200 — other digits of a number are a change, and the same digits are none', async () => {
    for (const note of ['x', 'x'.repeat(20_000)]) {
      const email = `digits${note.length}@example.com`;
      const send = async (rate: string) => {
        const raw = `{"email":"${email}","company":"A","note":"${note}","deep":{"rates":[${rate}]}}`;
        const {
          status,
          text: answer,
          headers,
        } = await service().call('POST', '/rest/entity/customer/upsert?by=email', {
          cookie,
          raw,
          headers: json,
        });
        return [status, headers.get('etag'), /"rates": ?\[(.*?)\]/.exec(answer)?.[1]];
      };
      expect(await send('1.5')).toEqual([201, '"1"', '1.5']);
      expect(await send('1.5')).toEqual([200, '"1"', '1.5']);
      expect(await send('1.50')).toEqual([200, '"2"', '1.50']);
      expect(await send('1.50')).toEqual([200, '"2"', '1.50']);
      expect(await send('15e-1')).toEqual([200, '"3"', '1.5']);
    }
  });

  test('201 and 200 — null is no member of a new entity either, so a repeat changes nothing', async () => {
    const fields =
      ' \n{"email":"null@example.com","company":"null","number":null,"address":{"a":null,"b":{"c":null}},"list":[null,{"d":null}],"n":1.50}';
    const send = () => service().call<Body>('POST', '/rest/entity/customer/upsert?by=email', { cookie, raw: fields, headers: json });
    const first = await send();
    expect([first.status, first.body.fields]).toEqual([
      201,
      { email: 'null@example.com', company: 'null', address: { b: {} }, list: [null, { d: null }], n: 1.5 },
    ]);
    expect(first.text).toContain('1.50');
    expect([(await send()).status, await versionOf(first.body.key)]).toEqual([200, '1']);
    const refused = await upsert('email', { email: 'none@example.com', company: null });
    expect([refused.status, refused.body.errors]).toMatchObject([422, [{ pointer: '/company', code: 'required' }]]);
  });

  test('201 and 200 — thirty at once over two replicas with one value leave one entity with all members', async () => {
    const other = await service().replica();
    onTestFinished(() => other.stop());
    const answers = await race(30, (n) =>
      upsert('email', { email: 'race@example.com', company, [`m${n}`]: n }, {}, n % 2 ? other : service()),
    );
    expect(statuses(answers)).toEqual({ 200: 29, 201: 1 });
    const stored = (await rowsOf(service(), 'customer')).filter(({ fields }) => fields.includes('race@example.com'));
    expect(stored).toHaveLength(1);
    expect(Object.keys(JSON.parse(stored[0]?.fields ?? '{}') as object)).toHaveLength(32);
    expect(stored[0]?.version).toBe('30');
  });

  test('201 and 200 — by a rule of several fields in any order, and by a field in an object', async () => {
    const { body } = await upsert('country,number', { country: 'FR', number: 1, company });
    expect((await upsert('number,country', { country: 'FR', number: 1, company: 'Other' })).body).toMatchObject({
      key: body.key,
      version: 2,
    });
    expect((await upsert('country,number', { country: 'FR', number: 2, company })).status).toBe(201);
    const nested = await upsert('address.code', { address: { code: 'A1' }, company });
    expect((await upsert('address.code', { address: { code: 'A1' }, company: 'Other' })).body.key).toBe(nested.body.key);
  });

  test('412 — with If-None-Match: * if the entity exists, with If-Match if it does not or has another version (rule 78)', async () => {
    const fields = { email: 'conditions@example.com', company };
    expect((await upsert('email', fields, { headers: { 'if-match': '*' } })).status).toBe(412);
    const created = await upsert('email', fields, { headers: { 'if-none-match': '*' } });
    expect(created.status).toBe(201);
    expect((await upsert('email', { ...fields, number: 9 }, { headers: { 'if-none-match': '*' } })).status).toBe(412);
    for (const tag of ['"2"', 'W/"2"'])
      expect((await upsert('email', { ...fields, number: 9 }, { headers: { 'if-match': tag } })).status, tag).toBe(412);
    expect(await versionOf(created.body.key)).toBe('1');
    expect((await upsert('email', { ...fields, number: 9 }, { headers: { 'if-match': 'W/"1"' } })).body.version).toBe(2);
    for (const headers of [{ 'if-none-match': '"1"' }, { 'if-none-match': '*', 'if-match': '*' }])
      expect((await upsert('email', fields, { headers })).status).toBe(400);
  });

  test('428 — if the type requires If-Match and the entity exists', async () => {
    await declareType(service(), 'guarded', {
      type: 'object',
      properties: { a: text },
      'x-unique': [{ fields: ['a'] }],
      'x-if-match': 'required',
    });
    const call = (headers = {}) =>
      service().call('POST', '/rest/entity/guarded/upsert?by=a', { cookie, json: { a: 'x', b: Math.random() }, headers });
    expect((await call()).status).toBe(201);
    expect((await call()).status).toBe(428);
    expect((await call({ 'if-match': '*' })).status).toBe(200);
  });

  test('422 — by what is no unique rule, a missing value, and fields that do not fit', async () => {
    for (const by of ['company', 'country', 'email,country', 'constructor', 'email,email,number'])
      expect((await upsert(by, { email: 'a@example.com', company })).body).toMatchObject({
        code: 'validation-failed',
        errors: [{ parameter: 'by', code: 'invalid-value' }],
      });
    expect((await service().call('POST', '/rest/entity/undeclared/upsert?by=a', { cookie, json: { a: 1 } })).body.errors).toMatchObject([
      { parameter: 'by', code: 'invalid-value' },
    ]);
    for (const json of [{ company }, { email: null, company }])
      expect((await upsert('email', json)).body.errors).toMatchObject([{ pointer: '/email', code: 'required' }]);
    expect((await upsert('email', { email: 'unfit@example.com' })).body.errors).toMatchObject([{ pointer: '/company', code: 'required' }]);
    const { body } = await upsert('email', { email: 'fit@example.com', company });
    expect((await upsert('email', { email: 'fit@example.com', company: null })).status).toBe(422);
    expect(await versionOf(body.key)).toBe('1');
  });

  test('422 — a value that the field of the rule does not take is told as one, and not as missing', async () => {
    const properties = { number: { type: 'string', format: 'int64' } };
    await declareWithRules(service(), 'account', { properties, 'x-unique': [{ fields: ['number'] }] });
    const faultOf = async (raw: string) => {
      const call = await service().call<Body>('POST', '/rest/entity/account/upsert?by=number', { cookie, raw, headers: json });
      return [call.status, call.body.errors?.[0]?.code];
    };
    expect(await faultOf('{"number":"9223372036854775807"}')).toEqual([201, undefined]);
    for (const number of ['"9223372036854775808"', '"01"', '"-0"', '"1e2"'])
      expect(await faultOf(`{"number":${number}}`)).toEqual([422, 'invalid-value']);
    for (const number of ['1', '[]']) expect(await faultOf(`{"number":${number}}`)).toEqual([422, 'invalid-type']);
    for (const fields of ['{"number":null}', '{}']) expect(await faultOf(fields)).toEqual([422, 'required']);
  });

  test('409 — if another rule is violated', async () => {
    await upsert('email', { email: 'other@example.com', country: 'DE', number: 7, company });
    const refusal = await upsert('email', { email: 'third@example.com', country: 'DE', number: 7, company });
    expect([refusal.status, refusal.body.code]).toEqual([409, 'unique-conflict']);
    expect(refusal.body.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(['/country', '/number']);
    for (const { detail } of refusal.body.errors ?? []) expect(detail).toContain('These fields are unique together: country, number.');
  });

  test('403 and 409 — needs both rights or the one that the condition leaves, and changes no row of another owner (rules 62 and 64)', async () => {
    const fields = { email: 'rights@example.com', company };
    const { body } = await upsert('email', fields);
    const as = async (name: string, grants: Parameters<TestService['createUser']>[1]) =>
      service().openSession((await service().createUser(name, grants)).id);
    const creator = await as('creator', { customer: ['create'] });
    const updater = await as('updater', { customer: ['read', 'update'] });
    const owner = await as('owner', { customer: { actions: ['create', 'read', 'update'], condition: 'own' } });
    expect((await upsert('email', fields, { cookie: creator })).status).toBe(403);
    expect((await upsert('email', fields, { cookie: updater })).status).toBe(403);
    expect((await upsert('email', fields, { cookie: creator, headers: { 'if-none-match': '*' } })).status).toBe(412);
    expect((await upsert('email', fields, { cookie: updater, headers: { 'if-match': '*' } })).status).toBe(200);
    const refusal = await upsert('email', { ...fields, company: 'Mine' }, { cookie: owner });
    expect([refusal.status, refusal.body.code]).toEqual([409, 'unique-conflict']);
    // As in a create with these values, also for a caller who may read the entity.
    const reader = await as('reader', { customer: { actions: ['create', 'update'], condition: 'own' }, '*': ['read'] });
    expect((await upsert('email', { ...fields, company: 'Mine' }, { cookie: reader })).body.code).toBe('unique-conflict');
    expect(await versionOf(body.key)).toBe('1');
    expect((await upsert('email', { email: 'own@example.com', company }, { cookie: owner })).status).toBe(201);
    expect((await upsert('email', { email: 'own@example.com', company: 'Mine' }, { cookie: owner })).status).toBe(200);
  });

  test('422 — the same key and body with another rule in `by` are another request', async () => {
    const fields = { email: 'rule@example.com', address: { code: 'rule' }, company };
    const headers = { 'idempotency-key': 'another-rule' };
    expect((await upsert('email', fields, { headers })).status).toBe(201);
    const other = await upsert('address.code', fields, { headers });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency-key-reused']);
    const again = await upsert('email', fields, { headers });
    expect([again.status, again.body.version]).toEqual([201, 1]);
  });
});

test('404 — a name without a type, where only declared names exist', async () => {
  const strict = await service().replica({ ENTITY_TYPES: 'declared', ENTITY_TYPES_DIR: await writeTypes({ listed: { type: 'object' } }) });
  try {
    const sent = { cookie, json: { email: 'a@b' } };
    expect((await strict.call('POST', '/rest/entity/listed/upsert?by=email', sent)).status).toBe(422);
    expect((await strict.call('POST', '/rest/entity/unlisted/upsert?by=email', sent)).status).toBe(404);
    expect(await rowsOf(service(), 'unlisted')).toEqual([]);
  } finally {
    await strict.close();
  }
});
