import { beforeAll, describe, expect, test } from 'vitest';
import { rowsOf, seed, type Entity } from '../../support/entities.ts';
import { useService, type Answer } from '../../support/service.ts';

const service = useService();
let ada: string;

beforeAll(async () => {
  await service().createUser('ada');
  ada = await service().openSession((await service().db.selectFrom('user_account').select('id').executeTakeFirstOrThrow()).id);
});

const get = <T = Entity>(path: string, headers: Record<string, string> = {}, cookie = ada): Promise<Answer<T>> =>
  service().call<T>('GET', `/rest/entity/${path}`, { cookie, headers });

describe('getEntity', () => {
  test('200 — returns the created entity, with its version as ETag', async () => {
    const created = await service().call<Entity>('POST', '/rest/entity/customer', { cookie: ada, json: { city: 'London' } });
    const answer = await get(`customer/${created.body.key}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(created.body);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('200 — keys are exact over all of int64: no adjacent key is ever read (rule 68)', async () => {
    const keys = [
      '-9223372036854775808',
      '-9223372036854775807',
      '-1',
      '0',
      '1',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '9223372036854775806',
      '9223372036854775807',
    ];
    for (const key of keys) await seed(service(), 'exact', key, { i: key }, 'ada');
    for (const key of keys) {
      const answer = await get(`exact/${key}`);
      expect(answer.status, key).toBe(200);
      expect(answer.body).toMatchObject({ key, fields: { i: key } });
    }
    await service().db.deleteFrom('entity').where('name', '=', 'exact').where('key', '=', '9007199254740993').execute();
    expect((await get('exact/9007199254740993')).status).toBe(404);
  });

  const noKeys =
    '1e3 1E3 0x10 0b1 0o7 01 00 +1 -0 --1 - 1.0 1. .1 1_000 1n NaN Infinity null a * 1;2 1,2 １ %201 1%20 1%0A %00 1%00 1%2F2 %2F %252F %D9%A1'
      .split(' ')
      .concat('9223372036854775808', '-9223372036854775809', '18446744073709551616', '1'.repeat(20), '9'.repeat(64), "1'--");

  test.for(noKeys)('400 — %s is not a key, and no query is sent (rule 68)', async (key) => {
    const answer = await get<{ code: string; errors: unknown }>(`exact/${key}`);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid-key', errors: [{ parameter: 'key', code: 'invalid-value' }] });
  });

  test('400 — an invalid name (rule 69)', async () => {
    for (const name of ['1a', '_a', 'a%2Fb', 'a%00', 'a%20b', 'é', 'x'.repeat(65), '-', 'a$', '%3Cscript%3E']) {
      const answer = await get<{ code: string; errors: unknown }>(`${name}/1`);
      expect(answer.status, name).toBe(400);
      expect(answer.body).toMatchObject({ code: 'malformed-request', errors: [{ parameter: 'name' }] });
    }
  });

  test('200 — an escape in the path is decoded', async () => {
    await seed(service(), 'escaped', '12', { a: 1 }, 'ada');
    expect((await get('%65scaped/%31%32')).body).toMatchObject({ name: 'escaped', key: '12' });
  });

  test('404 — a key that was never assigned, and the key of another name', async () => {
    await seed(service(), 'here', '5', {}, 'ada');
    expect((await get('here/5')).status).toBe(200);
    for (const path of ['here/6', 'here/-5', 'there/5', 'Here/5']) {
      const answer = await get<{ code: string }>(path);
      expect(answer.status, path).toBe(404);
      expect(answer.body.code).toBe('not-found');
    }
  });

  test('304 — If-None-Match with the present version, as proxies change it too, in a list, or any', async () => {
    await seed(service(), 'cached', '7', {}, 'ada');
    for (const tags of ['"1"', 'W/"1"', '"0", "1"', '"0",W/"1" , "x"', '"1",', ', "1"', '"a,b", "1"', '"1-gzip"', 'W/"1;br"', '*']) {
      const answer = await get('cached/7', { 'if-none-match': tags });
      expect(answer.status, tags).toBe(304);
      expect(answer.text).toBe('');
      expect(answer.headers.get('etag')).toBe('"1"');
    }
  });

  test('200 — If-None-Match with other tags only', async () => {
    for (const tags of ['"2"', 'W/"2"', '"2-gzip"', '"1-x"', '"01"', '""', '"\u00e9"', '"1\'"']) {
      expect((await get('cached/7', { 'if-none-match': tags })).status, tags).toBe(200);
    }
  });

  test('400 — an If-None-Match that is not a list of tags', async () => {
    for (const tags of ['1', "'1'", '"1', 'w/"1"', '"1" "2"', '"1 "', '*, "1"', '', ',', '"1", *', `"${'x'.repeat(1_100)}"`]) {
      const answer = await get<{ code: string; errors: unknown }>('cached/7', { 'if-none-match': tags });
      expect(answer.status, tags).toBe(400);
      expect(answer.body, tags).toMatchObject({
        code: 'malformed-request',
        errors: [{ parameter: expect.stringMatching(/^if-none-match$/i) }],
      });
    }
  });

  test('304 — requires the right to read, and a missing entity is still 404', async () => {
    await service().createUser('bob', { other: ['read'] });
    const bob = await service().signIn('bob');
    expect((await get('cached/7', { 'if-none-match': '*' }, bob)).status).toBe(403);
    expect((await get('cached/8', { 'if-none-match': '*' })).status).toBe(404);
  });

  test('200 — reading changes nothing, and writes no audit event', async () => {
    const before = await rowsOf(service(), 'cached');
    const events = () => service().db.selectFrom('audit_event').where('event', 'like', 'entity.%').select('id').execute();
    const noted = (await events()).length;
    await get('cached/7');
    expect(await rowsOf(service(), 'cached')).toEqual(before);
    expect((await events()).length).toBe(noted);
  });
});
