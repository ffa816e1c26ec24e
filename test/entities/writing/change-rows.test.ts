/** The rows of `entity_change`: on every road they tell by which credential and request a change was made, and what an update has changed (decision 300). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { AdminCommand } from '../../support/admin.ts';
import { whileWaiting, type Entity } from '../../support/entities.ts';
import { TestIssuer, writeIssuers } from '../../support/issuer.ts';
import { useService } from '../../support/service.ts';
import { kinds, retitled, useWriteRoads, wholeOf } from '../../support/write-roads.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(corp.entry()) });
const { roads, check, age, lastId, rowsSince, item, unique, send } = useWriteRoads(service, corp);
const placeOf = ({ name, key }: Entity) => `entity/${name}/${key}`;
// Each kind of credential takes every third road; change-rows.long.test.ts has all pairs.
const pairs = Object.entries(roads).map(([name, road], index) => ({ name, road, kind: kinds[index % kinds.length] ?? 'session' }));

test.each(pairs)('2xx — each row has what it changed, its credential and its request: $name, with a $kind', async ({ road, kind }) => {
  await check(kind, road);
});

test('an import of the command line has the credential `command` and one request for all rows', async () => {
  const { fields } = await item();
  const directory = await mkdtemp(join(tmpdir(), 'change-rows-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'items.csv');
  await writeFile(file, `number,title\n${String(fields['number'])},b\n${unique()},c\n`);
  await age('13 hours');
  const from = await lastId();
  const admin = new AdminCommand(service().databaseUrl);
  expect(await admin.run(['entities', 'import', 'item', file, '--as', 'ada', '--by', 'number'])).toMatchObject({ code: 0 });
  const rows = await rowsSince(from);
  expect(rows.map(wholeOf)).toEqual([...retitled, ['created', null, null]]);
  expect(rows.map(({ credential }) => credential)).toEqual(['command', 'command']);
  expect(new Set(rows.flatMap(({ request, requestOfEvent }) => [request, requestOfEvent])).size).toBe(1);
});

test.each([
  ['an hour less than 12 hours', '11 hours', [['updated', null, null]]],
  ['a minute less than 12 hours', '11 hours 59 minutes', [['updated', null, null]]],
  ['a minute more than 12 hours', '12 hours 1 minute', retitled],
])('200 — an update of a version that is %s old', async (_, before, rows) => {
  const given = await item();
  await age(before);
  const from = await lastId();
  await send('POST', placeOf(given), { json: { title: 'b' } });
  expect((await rowsSince(from)).map(wholeOf)).toEqual(rows);
});

test('200 — former values of 64 KiB are stored, and of one byte more only the names of the members', async () => {
  const around = '{"title": ""}'.length;
  for (const [bytes, isStored] of [
    [65_536, true],
    [65_537, false],
  ] as const) {
    const title = 'x'.repeat(bytes - around);
    const given = await send('POST', 'entity/item', { json: { number: unique(), title } });
    await age('13 hours');
    const from = await lastId();
    await send('POST', placeOf(given), { json: { title: 'b' } });
    const [row] = await rowsSince(from);
    expect([row?.changed, row?.before]).toEqual([['title'], isStored ? JSON.stringify({ title }).replace(':', ': ') : null]);
  }
});

test('204 — a purge takes the former values and the names of their members from the history (rule 160)', async () => {
  const given = await item();
  await age('13 hours');
  const from = await lastId();
  await send('POST', placeOf(given), { json: { title: 'b' } });
  expect((await rowsSince(from)).map(wholeOf)).toEqual(retitled);
  await send('DELETE', `${placeOf(given)}?purge=1`);
  expect((await rowsSince(from)).map(wholeOf)).toEqual([
    ['updated', null, null],
    ['deleted', null, null],
    ['purged', null, null],
  ]);
});

test('200 — the history shows what a version has changed, also when the version before is no longer stored', async () => {
  const given = await item();
  await age('13 hours');
  await send('POST', placeOf(given), { json: { title: 'b', price: null } });
  await sql`update entity_change set at = at - interval '8 days' where key = ${given.key}::bigint and version = 1`.execute(service().db);
  await send('POST', placeOf(given), { json: { title: 'c' } });
  const { items } = (await send('GET', `${placeOf(given)}/history`)) as unknown as { items: { changed: string[] }[] };
  expect(items.map(({ changed }) => changed)).toEqual([['title'], ['price', 'title']]);
});

test('200 — an update that has waited for another one has the former values of that one', async () => {
  const given = await send('POST', 'entity/note', { json: { title: 'a', n: 1 } });
  const lock = sql`select from entity where key = ${given.key}::bigint for update`;
  const from = await lastId();
  await whileWaiting(
    service(),
    lock,
    () => send('POST', placeOf(given), { json: { title: 'c' } }),
    (trx) =>
      sql`update entity set fields = fields || '{"title":"b"}', version = 2, updated_at = now() - interval '13 hours'
        where key = ${given.key}::bigint`.execute(trx),
  );
  expect((await rowsSince(from)).map(wholeOf)).toEqual([['updated', ['title'], '{"title": "b"}']]);
});
