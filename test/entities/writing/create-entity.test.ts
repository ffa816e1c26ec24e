import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Entity } from '../../support/entities.ts';
import { Decimal, decimalOf, exactly, objectText } from '../../support/exact-json.ts';
import { useService, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: string;
let key: string;
let cookie: string;

beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
  key = await service().createKey(ada);
  cookie = await service().signIn('ada');
});

const create = <T = Entity>(name: string, call: Call) =>
  service().call<T>('POST', `/rest/entity/${name}`, { ...call, headers: { 'x-api-key': key, ...call.headers } });
const createText = <T = ProblemBody>(raw: string | Buffer) => create<T>('note', { raw, headers: { 'content-type': 'application/json' } });
const rows = async (name: string) => {
  const { count } = await service()
    .db.selectFrom('entity')
    .where('name', '=', name)
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
};

describe('createEntity', () => {
  test('201 — stores the fields and returns the entity, its location and its ETag', async () => {
    const fields = { company: 'Analytical Engines Ltd', credit: 1000.5, tags: ['a', null], address: { city: 'London' } };
    const answer = await create('customer', { json: fields });
    expect(answer.status, answer.text).toBe(201);
    const { createdAt, updatedAt, key: given, ...rest } = answer.body;
    expect(rest).toEqual({ name: 'customer', version: 1, createdBy: 'ada', updatedBy: 'ada', fields });
    expect(given).toMatch(/^[1-9]\d*$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(updatedAt).toBe(createdAt);
    expect(Math.abs(Date.now() - Date.parse(createdAt))).toBeLessThan(60_000);
    expect(answer.headers.get('location')).toBe(`/rest/entity/customer/${given}`);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const read = await service().call('GET', answer.headers.get('location') ?? '', { cookie });
    expect(read.body).toEqual(answer.body);
  });

  test('201 — with a session, with an API key, and with an empty object', async () => {
    expect((await service().call('POST', '/rest/entity/note', { cookie, json: {} })).status).toBe(201);
    expect((await create('note', { json: {} })).body.fields).toEqual({});
  });

  test('201 — accepts names of every valid form, and each is a separate name (rules 65 and 69)', async () => {
    for (const name of ['a', 'A', 'x'.repeat(64), 'a.b-c_d9', 'constructor', 'toString', 'hasOwnProperty']) {
      const answer = await create(name, { json: { name: 1, key: '2', version: 3, createdBy: 'eve' } });
      expect(answer.status, name).toBe(201);
      expect(answer.body, 'fields do not reach the envelope').toMatchObject({ name, version: 1, createdBy: 'ada' });
      expect(answer.body.fields).toEqual({ name: 1, key: '2', version: 3, createdBy: 'eve' });
    }
  });

  test('201 — concurrent creates never get the same key', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => create(index % 2 ? 'note' : 'memo', { json: { index } })));
    const keys = answers.map(({ body }) => body.key);
    expect(new Set(keys).size).toBe(40);
    for (const { body } of answers) expect(BigInt(body.key)).toBeGreaterThan(0n);
  });

  test('201 — accepted fields are read back unchanged, digit for digit (rule 70)', async () => {
    await fc.assert(
      fc.asyncProperty(objectText, async (text) => {
        const created = await createText<Entity>(text);
        expect(created.status, `${text}\n${created.text}`).toBe(201);
        const read = await service().call<Entity>('GET', `/rest/entity/note/${created.body.key}`, { headers: { 'x-api-key': key } });
        expect(read.body.fields).toEqual(JSON.parse(text));
        const { fields } = exactly(read.text) as { fields: unknown };
        expect(fields).toEqual(exactly(text));
        expect((exactly(created.text) as { fields: unknown }).fields).toEqual(fields);
      }),
      { numRuns: 150 },
    );
  });

  test('201 or 400 — a number is accepted exactly if a double has its decimal value, and is stored with that value (rule 70)', async () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[1-3]?[0-9]{1,2})?$/);
    await fc.assert(
      fc.asyncProperty(fc.boolean(), digits, async (negative, unsigned) => {
        const token = `${negative ? '-' : ''}${unsigned}`;
        const number = Number(token);
        // Negative zero is stored as zero.
        const isZero = /^-?0(\.0+)?([eE]|$)/.test(token);
        const exact = isZero || (Number.isFinite(number) && decimalOf(token) === decimalOf(String(number)));
        const answer = await createText(`{"n":${token}}`);
        expect(answer.status, token).toBe(exact ? 201 : 400);
        if (exact) expect(exactly(answer.text)).toMatchObject({ fields: { n: new Decimal(isZero ? token.replace('-', '') : token) } });
        else expect(answer.body).toMatchObject({ code: 'malformed-request', errors: [{ pointer: '/n', code: 'number-not-exact' }] });
      }),
      { numRuns: 150 },
    );
  });

  const refused: [what: string, body: string | Buffer, fault: object][] = [
    ['no JSON', '{"a":', { pointer: '', code: 'invalid-json' }],
    ['JSON with a comment', '{"a":1 /* one */}', { pointer: '', code: 'invalid-json' }],
    ['two documents', '{}{}', { pointer: '', code: 'invalid-json' }],
    ['a duplicate member', '{"a":1,"b":{"c":1,"c":1}}', { pointer: '/b/c', code: 'duplicate-member' }],
    ['a duplicate member in escapes', '{"a":1,"\\u0061":2}', { pointer: '/a', code: 'duplicate-member' }],
    ['an integer past 2^53', '{"a":[0,9007199254740993]}', { pointer: '/a/1', code: 'number-not-exact' }],
    ['1e400', '{"a":1e400}', { pointer: '/a', code: 'number-not-exact' }],
    ['1e-400', '{"a":1e-400}', { pointer: '/a', code: 'number-not-exact' }],
    ['more digits than a double has', '{"a":0.12345678901234567890}', { pointer: '/a', code: 'number-not-exact' }],
    ['an exponent that would expand to megabytes', '{"a":0e99999999}', { pointer: '/a', code: 'number-not-exact' }],
    ['NUL in a text', '{"a":"\\u0000"}', { pointer: '/a', code: 'nul-character' }],
    ['NUL in a name', '{"a":{"\\u0000":1}}', { pointer: '/a', code: 'nul-character' }],
    ['a lone surrogate', '{"a":"\\ud800"}', { pointer: '/a', code: 'lone-surrogate' }],
    ['surrogates in the wrong order', '{"a":"\\udc00\\ud800"}', { pointer: '/a', code: 'lone-surrogate' }],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]), { pointer: '', code: 'invalid-encoding' }],
    ['UTF-8 of surrogates', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'), { pointer: '', code: 'invalid-encoding' }],
    ['a byte order mark', '\uFEFF{}', { pointer: '', code: 'invalid-encoding' }],
    ['33 levels', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, { code: 'too-deep' }],
    ['100,000 levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, { code: 'too-deep' }],
    ['100,000 levels that never close', '{"a":'.repeat(100_000), { code: 'too-deep' }],
    ['10,001 values', `{"a":[${'0,'.repeat(9_998)}0]}`, { pointer: '/a/9998', code: 'too-many-values' }],
    ['a name of 129 characters', `{"a":{"${'x'.repeat(129)}":1}}`, { pointer: '/a', code: 'member-name-too-long' }],
    ['__proto__', '{"a":{"__proto__":{}}}', { pointer: '/a/__proto__', code: 'member-name-reserved' }],
    ['constructor', '{"constructor":1}', { pointer: '/constructor', code: 'member-name-reserved' }],
    ['prototype in escapes', '{"\\u0070rototype":1}', { pointer: '/prototype', code: 'member-name-reserved' }],
  ];

  test.for(refused)('400 — %s, with the position, and nothing is stored (rule 70)', async ([, body, fault]) => {
    const before = await rows('note');
    const answer = await createText(body);
    expect(answer.status, answer.text.slice(0, 200)).toBe(400);
    expect(answer.body).toMatchObject({ code: 'malformed-request', errors: [fault] });
    expect(await rows('note')).toBe(before);
  });

  test('201 — values just within these limits', async () => {
    const within = [
      `${'{"a":'.repeat(32)}1${'}'.repeat(32)}`,
      `{"a":[${'0,'.repeat(9_997)}0]}`,
      `{"${'x'.repeat(128)}":1,"${'😀'.repeat(128)}":2,"":3}`,
      '{"a":9007199254740991,"b":9007199254740992,"c":1e308,"d":"\\ud83d\\ude00"}',
    ];
    for (const text of within) {
      const answer = await createText<Entity>(text);
      expect(answer.status, answer.text.slice(0, 300)).toBe(201);
      expect((exactly(answer.text) as { fields: unknown }).fields).toEqual(exactly(text));
    }
  });

  test('422 — JSON that is not an object', async () => {
    for (const text of ['[]', '"text"', '1', 'true', 'null', '[{}]']) {
      const answer = await createText(text);
      expect(answer.status, text).toBe(422);
      expect(answer.body).toMatchObject({ code: 'validation-failed', errors: [{ pointer: '', code: 'invalid-type' }] });
    }
  });

  test('413 — a body of 2 MB', async () => {
    const answer = await createText(JSON.stringify({ text: 'x'.repeat(2_000_000) }));
    expect(answer.status).toBe(413);
    expect(answer.body.code).toBe('content-too-large');
  });

  test('403 — without a grant for the name and the action, while the granted name still works (rule 62)', async () => {
    await service().createUser('bob', { note: ['create'], memo: ['read', 'update', 'delete'] });
    const bob = await service().signIn('bob');
    expect((await service().call('POST', '/rest/entity/note', { cookie: bob, json: {} })).status).toBe(201);
    for (const name of ['memo', 'Note', 'notes', 'not', 'constructor']) {
      const before = await rows(name);
      const answer = await service().call('POST', `/rest/entity/${name}`, { cookie: bob, json: {} });
      expect(answer.status, name).toBe(403);
      expect(answer.body.code).toBe('forbidden');
      expect(await rows(name)).toBe(before);
    }
  });

  test('201 — is audited, without the fields (rule 85)', async () => {
    const { body } = await create('secret', { json: { text: 'nobody must read this' } });
    const event = await service()
      .db.selectFrom('audit_event')
      .where('event', '=', 'entity.created')
      .orderBy('id', 'desc')
      .selectAll()
      .executeTakeFirstOrThrow();
    expect(event).toMatchObject({ outcome: 'ok', user_name: 'ada', detail: { entity: 'secret', key: body.key, version: 1 } });
    expect(JSON.stringify(event)).not.toContain('nobody');
  });
});
