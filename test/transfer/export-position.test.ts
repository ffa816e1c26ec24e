/** The last line of an export names a position: a state of the whole database that the export has at least. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { rowsOf, type Entity } from '../support/entities.ts';
import { useService } from '../support/service.ts';
import { tickNow } from '../support/ticks.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

/** An entity, or the last line. */
interface Line extends Entity {
  $complete: boolean;
  entities: number;
  position?: string;
}
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('200 — the position in the last line is that of a state which the export has at least', async () => {
  const name = 'single';
  await service().call('POST', `/rest/entity/${name}`, { cookie, json: { n: 1 } });
  const position = await tickNow(service());
  const { text } = await service().call('GET', `/rest/entity/${name}/export`, { cookie });
  expect(linesOf(text).at(-1)).toMatchObject({ $complete: true, entities: 1, position });
  const [exported] = linesOf(text);
  const path = `${name}/${exported?.key}`;
  expect((await service().call('POST', `/rest/entity/${path}`, { cookie, json: { n: 2 } })).status).toBe(200);
  const { key, version, fields } = (await service().call<Line>('GET', `/rest/entity/${path}?asOf=${position}`, { cookie })).body;
  expect({ key, version, fields }).toEqual({ key: exported?.key, version: 1, fields: { n: 1 } });
});

test('200 — an export under load has each entity in one of its versions, and no older one than at its position', async () => {
  const name = 'changing';
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ n, text: 'x'.repeat(500) }));
  for (let part = 0; part < 3; part++) {
    const { status } = await service().call('POST', `/rest/entity/${name}/bulk`, { cookie, json: rows });
    expect(status).toBe(200);
  }
  const keys = (await rowsOf(service(), name)).map(({ key }) => key);
  const over = new AbortController();
  const write = async (first: number) => {
    for (let n = first; !over.signal.aborted; n += 97)
      await service().call('POST', `/rest/entity/${name}/${keys[n % keys.length]}`, { cookie, json: { changed: n } });
  };
  const writers = [write(1), write(2_000)];
  await tickNow(service());
  const { text } = await service().call('GET', `/rest/entity/${name}/export`, { cookie });
  over.abort();
  await Promise.all(writers);
  const lines = linesOf(text);
  const { $complete, position } = lines.pop() ?? {};
  expect([$complete, lines.map(({ key }) => key)]).toEqual([true, keys]);
  const { rows: wrong } = await sql`
    select key from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as exported (key bigint, version bigint, fields jsonb)
    where not exists (
        select from entity_change as c where c.name = ${name} and c.key = exported.key and c.version = exported.version and c.fields = exported.fields)
      or exists (
        select from entity_change as c, feed_tick where n = ${position}::bigint and c.name = ${name} and c.key = exported.key
          and c.version > exported.version and pg_visible_in_snapshot(c.xid, snapshot))`.execute(service().db);
  expect(wrong).toEqual([]);
  expect(lines.filter(({ version }) => version > 1).length).toBeGreaterThan(0);
});
