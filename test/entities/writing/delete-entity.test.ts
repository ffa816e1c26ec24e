import { beforeAll, describe, expect, test } from 'vitest';
import { rowsOf, seed, whileReplaced, type Entity } from '../../support/entities.ts';
import { useService, type Call } from '../../support/service.ts';

const service = useService();
let cookie: string;

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const create = async (): Promise<Entity> => (await service().call<Entity>('POST', '/rest/entity/note', { cookie, json: { a: 1 } })).body;
const remove = ({ name, key }: Pick<Entity, 'name' | 'key'>, call: Call = {}) =>
  service().call('DELETE', `/rest/entity/${name}/${key}`, { cookie, ...call });
const read = ({ name, key }: Pick<Entity, 'name' | 'key'>) => service().call('GET', `/rest/entity/${name}/${key}`, { cookie });

describe('deleteEntity', () => {
  test('204 — deletes the entity, and the answer has no body', async () => {
    const entity = await create();
    expect((await read(entity)).status).toBe(200);
    const answer = await remove(entity);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect((await read(entity)).status).toBe(404);
  });

  test('404 — for a second delete, also under If-Match', async () => {
    const entity = await create();
    await remove(entity);
    for (const headers of [{}, { 'if-match': '*' }, { 'if-match': '"1"' }]) {
      const answer = await remove(entity, { headers });
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe('not-found');
    }
  });

  test('204 — without If-Match also while another request deletes and restores the entity; with it 412 (rule 78)', async () => {
    for (const [headers, status] of [
      [{}, 204],
      [{ 'if-match': '*' }, 204],
      [{ 'if-match': '"1"' }, 412],
    ] as const) {
      const entity = await create();
      const answer = await whileReplaced(service(), entity, () => remove(entity, { headers }));
      expect(answer.status).toBe(status);
    }
  });

  test('204 and 404 — of twenty concurrent deletes exactly one succeeds', async () => {
    const entity = await create();
    const answers = await Promise.all(Array.from({ length: 20 }, () => remove(entity)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(19);
  });

  test('204 — under If-Match with the present version, weak or strong, in a list, or any (rule 78)', async () => {
    for (const tag of ['"1"', 'W/"1"', '"1-gzip"', '"7", "1"', '*']) {
      expect((await remove(await create(), { headers: { 'if-match': tag } })).status, tag).toBe(204);
    }
  });

  test('412 — under If-Match with other versions only, weak ones included, and the entity stays (rule 78)', async () => {
    const entity = await create();
    for (const tag of ['"2"', 'W/"2"', '"2-gzip"', '"01"', '"x"']) {
      const answer = await remove(entity, { headers: { 'if-match': tag } });
      expect(answer.status, tag).toBe(412);
      expect(answer.body.code).toBe('precondition-failed');
    }
    expect((await read(entity)).status).toBe(200);
  });

  test('412 and 204 — of an update and a delete with one ETag exactly one succeeds', async () => {
    for (let round = 0; round < 10; round++) {
      const entity = await create();
      const headers = { 'if-match': '"1"' };
      const change = service().call('POST', `/rest/entity/note/${entity.key}`, { cookie, headers, json: { a: 2 } });
      const statuses = (await Promise.all([remove(entity, { headers }), change])).map(({ status }) => status);
      expect([
        [204, 404],
        [412, 200],
      ]).toContainEqual(statuses);
    }
  });

  test('400 — an If-Match that is not a list of tags, and the entity stays', async () => {
    const entity = await create();
    for (const tag of ['1', '"1', '', '*, *']) expect((await remove(entity, { headers: { 'if-match': tag } })).status, tag).toBe(400);
    expect((await read(entity)).status).toBe(200);
  });

  test('204 — keys are exact: no adjacent key is deleted (rule 68)', async () => {
    const keys = ['9007199254740992', '9007199254740993', '9223372036854775806', '9223372036854775807'];
    for (const key of keys) await seed(service(), 'exact', key, {}, 'ada');
    expect((await remove({ name: 'exact', key: '9007199254740993' })).status).toBe(204);
    expect((await remove({ name: 'exact', key: '9223372036854775807' })).status).toBe(204);
    expect((await rowsOf(service(), 'exact')).map(({ key }) => key)).toEqual(['9007199254740992', '9223372036854775806']);
  });

  test('400 — an invalid key, and nothing is deleted (rule 68)', async () => {
    await seed(service(), 'exact', '1', {}, 'ada');
    await seed(service(), 'exact', '1000', {}, 'ada');
    await seed(service(), 'exact', '16', {}, 'ada');
    const before = await rowsOf(service(), 'exact');
    for (const key of ['1e3', '0x10', '01', '+1', '%201', '1.0', '-0', '1'.repeat(20)]) {
      const answer = await remove({ name: 'exact', key });
      expect(answer.status, key).toBe(400);
      expect(answer.body.code).toBe('invalid-key');
    }
    expect(await rowsOf(service(), 'exact')).toEqual(before);
  });

  test('204 — its key is never assigned again', async () => {
    const first = await create();
    await remove(first);
    const later = await Promise.all(Array.from({ length: 10 }, create));
    for (const { key } of later) expect(BigInt(key)).toBeGreaterThan(BigInt(first.key));
  });

  test('204 — is audited, once (rule 85)', async () => {
    const entity = await create();
    await remove(entity, { headers: { 'if-match': '"9"' } });
    await remove(entity);
    await remove(entity);
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'entity.deleted').selectAll().execute();
    expect(events.filter(({ detail }) => detail['key'] === entity.key)).toMatchObject([
      { outcome: 'ok', user_name: 'ada', detail: { entity: 'note', key: entity.key, version: 1 } },
    ]);
  });
});
