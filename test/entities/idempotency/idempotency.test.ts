/** A create with an Idempotency-Key creates one entity, even if the client repeats it (security rule 79). */
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteOldKeys } from '../../../src/entities/idempotency/idempotency.ts';
import { deleteInBatches } from '../../../src/background/batches.ts';
import { declareType, rowsOf, type Entity } from '../../support/entities.ts';
import { sendRequest } from '../../support/raw.ts';
import { cookieOf, useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: string;
let cookie: string;
/** A new name for each test, so that it reads only its own rows. */
let name: string;
let count = 0;

beforeAll(async () => {
  ada = (await service().createUser('ada')).id;
});
beforeEach(async () => {
  cookie = await service().openSession(ada);
  name = `note-${++count}`;
});

/** Creates with the key, by the session unless `call` has another credential. */
const create = <T = Entity>(key: string, call: Call = { json: { a: 1 } }) =>
  service().call<T>('POST', `/rest/entity/${name}`, {
    ...(call.headers?.['x-api-key'] === undefined && { cookie }),
    ...call,
    headers: { 'idempotency-key': key, ...call.headers },
  });

const keysOf = (answers: Answer<Entity>[]) => new Set(answers.map(({ body }) => body.key));
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

/** Moves the use of this test's keys into the past by an interval. */
const age = (interval: string) =>
  sql`update idempotency set created_at = now() - ${interval}::interval where entity = ${name}`.execute(service().db);

function expectReplay(answer: Answer<Entity>, first: Answer<Entity>): void {
  expect(answer.status, answer.text).toBe(201);
  expect(answer.text).toBe(first.text);
  for (const header of ['location', 'etag', 'content-type']) expect(answer.headers.get(header)).toBe(first.headers.get(header));
  expect(isReplay(answer)).toBe(true);
}

describe('createEntity with an Idempotency-Key', () => {
  test('201 — a repeat gets the same answer byte for byte, marked, and there is one row and one event (rule 79)', async () => {
    const body = { raw: '{"b": [1.50, "é"],  "a": 1}', headers: { 'content-type': 'application/json' } };
    const first = await create('one', body);
    expect(first.status, first.text).toBe(201);
    expect(isReplay(first)).toBe(false);
    expectReplay(await create('one', body), first);
    expectReplay(await create('one', body), first);
    expect(await rowsOf(service(), name)).toHaveLength(1);
    const events = sql`select from audit_event where event = 'entity.created' and detail->>'entity' = ${name}`;
    expect((await events.execute(service().db)).rows).toHaveLength(1);
  });

  test('201 — a repeat gets the answer of the creation, even after an update or a delete', async () => {
    const first = await create('kept');
    const path = `/rest/entity/${name}/${first.body.key}`;
    expect((await service().call('POST', path, { cookie, json: { a: 2 } })).status).toBe(200);
    expectReplay(await create('kept'), first);
    expect((await service().call('DELETE', path, { cookie })).status).toBe(204);
    expectReplay(await create('kept'), first);
    expect(await rowsOf(service(), name)).toEqual([]);
  });

  test('201 — the key belongs to the user: it counts after a refresh and for an API key of the same user', async () => {
    const first = await create('mine');
    cookie = cookieOf(await service().call('POST', '/auth/refresh', { cookie }));
    expectReplay(await create('mine'), first);
    const key = await service().createKey(ada);
    expectReplay(await create('mine', { json: { a: 1 }, headers: { 'x-api-key': key } }), first);
  });

  test('201 — another user, entity name or key makes another request, and each one can be repeated (rule 79)', async () => {
    const key = await service().createKey((await service().createUser(`bob-${count}`)).id);
    const theirs = (json: object) => ({ json, headers: { 'x-api-key': key } });
    const here = name;
    const there = `${name}.other`;
    const requests: [place: string, key: string, call: Call][] = [
      [here, 'shared', { json: { a: 1 } }],
      [here, 'shared', theirs({ a: 1 })],
      [here, 'Shared', { json: { a: 1 } }],
      [there, 'shared', { json: { a: 1 } }],
      [here, 'other body', { json: { a: 1 } }],
      [here, 'other body', theirs({ a: 2 })],
      [there, 'other body', { json: { a: 3 } }],
      [there, 'other body', theirs({ a: 4 })],
    ];
    const send = async () => {
      const answers: Answer<Entity>[] = [];
      for (const [place, key, call] of requests) {
        name = place;
        answers.push(await create(key, call));
      }
      return answers;
    };
    const answers = await send();
    expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 201));
    expect(answers.some(isReplay)).toBe(false);
    expect(keysOf(answers).size).toBe(requests.length);
    for (const [index, replay] of (await send()).entries()) expectReplay(replay, answers[index] as Answer<Entity>);
    expect([...(await rowsOf(service(), here)), ...(await rowsOf(service(), there))]).toHaveLength(requests.length);
  });

  test('201 — quoted and bare forms are the same key, of up to 255 characters (rule 79)', async () => {
    for (const [bare, quoted] of [
      ['a', '"a"'],
      ['x'.repeat(255), `"${'x'.repeat(255)}"`],
      ['say "hi" \\ bye', '"say \\"hi\\" \\\\ bye"'],
      ['~!, ;', '"~!, ;"'],
    ] as const) {
      const first = await create(bare);
      expect(first.status, bare).toBe(201);
      expectReplay(await create(quoted), first);
    }
    expect(await rowsOf(service(), name)).toHaveLength(4);
  });

  test('400 — a key that is empty, too long, half quoted, sent twice, or not of printable ASCII, and nothing is created (rule 79)', async () => {
    for (const key of ['', '""', 'x'.repeat(256), `"${'x'.repeat(256)}"`, '"a', '"a"b', '"a\\"', 'é', 'a\tb']) {
      const answer = await create<ProblemBody>(key);
      expect(answer.status, key).toBe(400);
      expect(answer.body).toMatchObject({ code: 'malformed-request', errors: [{ parameter: 'Idempotency-Key', code: 'invalid-value' }] });
    }
    const headers = ['cookie', cookie, 'content-type', 'application/json', 'idempotency-key', 'a', 'Idempotency-Key', 'a'];
    const twice = await sendRequest(service().url, 'POST', `/rest/entity/${name}`, headers, '{}');
    expect(twice.status).toBe(400);
    expect(JSON.parse(twice.text)).toMatchObject({ errors: [{ parameter: 'Idempotency-Key', code: 'repeated' }] });
    expect(await rowsOf(service(), name)).toEqual([]);
  });

  test('422 — the same key with another body, even if only a space differs, and nothing is created or changed (rule 79)', async () => {
    const first = await create('reused', { json: { a: 1 } });
    for (const raw of ['{"a":2}', '{"a": 1}', '{"a":1,"b":1}']) {
      const answer = await create<ProblemBody>('reused', { raw, headers: { 'content-type': 'application/json' } });
      expect(answer.status).toBe(422);
      expect(answer.body.code).toBe('idempotency-key-reused');
    }
    expect(await rowsOf(service(), name)).toMatchObject([{ key: first.body.key, fields: '{"a": 1}' }]);
  });

  test('201 — a repeat gets its answer although the type that has changed since refuses the body; a new key is 422 (rule 79)', async () => {
    const first = await create('one');
    await declareType(service(), name, { type: 'object', required: ['b'] });
    expectReplay(await create('one'), first);
    expect((await create('one', { json: { a: 2 } })).status).toBe(422);
    expect((await create('two')).status).toBe(422);
    expect(await rowsOf(service(), name)).toHaveLength(1);
  });

  test('403 and 400 — a refusal is not stored: rights are checked again, and a corrected body is accepted under the same key', async () => {
    const first = await create('rights');
    const reader = await service().createKey(ada, { scopes: [{ entity: '*', actions: ['read'] }] });
    expect((await create('rights', { json: { a: 1 }, headers: { 'x-api-key': reader } })).status).toBe(403);
    expectReplay(await create('rights'), first);
    expect((await create('wrong', { raw: '{', headers: { 'content-type': 'application/json' } })).status).toBe(400);
    expect((await create('wrong')).status).toBe(201);
  });

  test('201 — a key expires after 24 hours by the database’s clock, and not before (rules 4 and 79)', async () => {
    const first = await create('day');
    await age('23 hours 59 minutes');
    const replay = await create('day');
    expect([replay.status, isReplay(replay), replay.body.key]).toEqual([201, true, first.body.key]);
    await age('24 hours');
    const next = await create('day', { json: { a: 2 } });
    expect([next.status, isReplay(next)]).toEqual([201, false]);
    expectReplay(await create('day', { json: { a: 2 } }), next);
    expect(await rowsOf(service(), name)).toHaveLength(2);
  });
});

describe('concurrent creates with one key', () => {
  const fifty = <T>(send: () => Promise<T>) => Promise.all(Array.from({ length: 50 }, send));

  test('201 and 409 — of fifty one creates; the others get its answer or are asked to retry (rule 79)', async () => {
    const answers = await fifty(() => create('race'));
    const made = answers.filter(({ status }) => status === 201);
    expect(made.filter((answer) => !isReplay(answer))).toHaveLength(1);
    expect(keysOf(made).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer.status, answer.text).toBe(409);
      expect(answer.body).toMatchObject({ code: 'idempotency-in-progress' });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(await rowsOf(service(), name)).toHaveLength(1);
    const [first] = made;
    expect((await create('race')).body).toEqual(first?.body);
  });

  test('201 and 409 — likewise after the key has expired', async () => {
    await create('late');
    await age('25 hours');
    const answers = await fifty(() => create('late'));
    expect(answers.filter((answer) => answer.status === 201 && !isReplay(answer))).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(await rowsOf(service(), name)).toHaveLength(2);
  });

  test('409 — at once while another request is in progress, and 201 after that one has failed (rule 79)', async () => {
    const { db } = service();
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(jsonb_build_array('ada', ${name}::text, 'createEntity', 'slow')::text, 0))`.execute(
        trx,
      );
      const answer = await create<ProblemBody>('slow');
      expect([answer.status, answer.body.code]).toEqual([409, 'idempotency-in-progress']);
    });
    expect(await rowsOf(service(), name)).toEqual([]);
    expect((await create('slow')).status).toBe(201);
  });

  test('201 — a race lost on the unique index is a replay, never a 500, and leaves no row behind (rule 79)', async () => {
    const { db } = service();
    const first = await create('index');
    let answer: Promise<Answer<Entity>> | undefined;
    // The other request has inserted its row, and not yet committed it.
    await db.transaction().execute(async (trx) => {
      await sql`with gone as (delete from idempotency where entity = ${name} returning *) select from gone`.execute(trx);
      await sql`insert into idempotency (user_name, entity, key, fingerprint, entity_key, created_at)
        select 'ada', ${name}, 'other', fingerprint, entity_key, created_at from (values (sha256('{"a":1}'), ${first.body.key}::bigint, now()))
        as made (fingerprint, entity_key, created_at)`.execute(trx);
      answer = create('other');
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting.execute(db)).rows.length).toBe(1);
    });
    const late = await answer;
    expect([late?.status, late && isReplay(late), late?.body.key]).toEqual([201, true, first.body.key]);
    expect(await rowsOf(service(), name)).toHaveLength(1);
  });
});

test('housekeeping removes all expired keys, in any number, and no other (rule 79)', async () => {
  const { db } = service();
  await sql`insert into idempotency (user_name, entity, key, fingerprint, entity_key, created_at)
    select 'ada', ${name}, n::text, '', n, now() - interval '25 hours' from generate_series(1, 1500) as n`.execute(db);
  const first = await create('young');
  expect(await deleteInBatches((limit) => deleteOldKeys(db, limit))).toBe(1_500);
  expect(await deleteInBatches((limit) => deleteOldKeys(db, limit))).toBe(0);
  expectReplay(await create('young'), first);
});
