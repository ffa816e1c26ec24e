/**
 * The type of a name changes while entities of the name are written: no entity is committed after a change that fits only the old type. Both replicas
 * learn of changes by the comparison of revisions alone, because the test removes the notifications.
 */
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { theService } from '../../src/audit/actor.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { insertRevision, lockTypes } from '../../src/entity-types/store.ts';
import { createDatabase } from '../support/database.ts';
import { raceRounds, statuses, timeoutOf } from '../support/races.ts';
import { TestService, useService } from '../support/service.ts';
import { execute } from '../support/sql.ts';

const service = useService();
const writers = 8;
/** Fields that fit the type of one generation only. */
const fieldsOf = (generation: number) => ({ generation });
const documentOf = (generation: number) => ({ type: 'object', properties: { generation: { const: generation } } });

test(
  `no write of an old type is committed after its change, ${raceRounds()} changes under ${writers} writers (rule 72)`,
  async () => {
    const other = await service().replica();
    onTestFinished(() => other.stop());
    await sql`drop trigger entity_type_changed on entity_type`.execute(service().db);
    const cookie = await service().openSession((await service().createUser('ada')).id);
    const declare = (generation: number) =>
      applyChange(service().store, theService, { name: 'race', document: documentOf(generation), source: 'command' }, { allowUnfit: true });
    let generation = 0;
    const race = { isOver: false };
    const answers: { status: number }[] = [];
    const keys: string[] = [];
    // The first writes are of a name without a type.
    for (let writer = 0; writer < writers; writer++)
      keys.push((await other.call<{ key: string }>('POST', '/rest/entity/race', { cookie, json: fieldsOf(0) })).body.key);
    const writing = Promise.all(
      keys.map(async (key, writer) => {
        const place = writer % 4 < 2 ? '' : `/${key}`;
        while (!race.isOver) {
          const headers: Record<string, string> = writer === 1 ? { 'idempotency-key': crypto.randomUUID() } : {};
          const call = { cookie, json: fieldsOf(generation), headers };
          answers.push(await (writer % 2 === 0 ? service() : other).call('POST', `/rest/entity/race${place}`, call));
        }
      }),
    );
    for (let round = 1; round <= raceRounds(); round++) {
      await declare(round);
      const enough = answers.length + 3 * writers;
      await expect.poll(() => answers.length, { timeout: 15_000, interval: 2 }).toBeGreaterThan(enough);
      generation = round;
      await expect.poll(() => answers.length, { timeout: 15_000, interval: 2 }).toBeGreaterThan(enough + 3 * writers);
    }
    race.isOver = true;
    await writing;
    const counts = statuses(answers);
    expect(
      Object.keys(counts).every((status) => ['200', '201', '422'].includes(status)),
      JSON.stringify(counts),
    ).toBe(true);
    expect(counts[201]).toBeGreaterThan(0);
    expect(counts[200]).toBeGreaterThan(0);
    expect(counts[422]).toBeGreaterThan(0);
    // A change gets its transaction id when no write is under way, so ids have the order of commits between writes and changes.
    const { rows } = await sql<{ written: number; late: number }>`
      select count(*)::int as written, count(*) filter (where exists (
        select from entity_type_revision as change
        where (change.document->'properties'->'generation'->>'const')::int > (entity.fields->>'generation')::int
          and change.xmin::text::bigint < entity.xmin::text::bigint))::int as late
      from entity where name = 'race'`.execute(service().db);
    expect(rows[0]?.written).toBeGreaterThan(writers);
    expect(rows[0]?.late).toBe(0);
  },
  timeoutOf(raceRounds()),
);

test('422 — a write that waited for a change of its type, though the database defaults to REPEATABLE READ (rules 72 and 89)', async () => {
  const database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await execute(database.url, `alter database ${name} set default_transaction_isolation = 'repeatable read'`);
  const own = await TestService.start({}, database);
  onTestFinished(() => own.close());
  const cookie = await own.openSession((await own.createUser('ada')).id);
  const create = () => own.call('POST', '/rest/entity/waits', { cookie, json: {} });
  expect((await create()).status).toBe(201);
  const waits = sql`select from pg_locks where not granted and relation = 'entity_type'::regclass and database = (select oid from pg_database where datname = current_database())`;
  const write = await own.db.transaction().execute(async (trx) => {
    await lockTypes(trx);
    const waiting = { answer: create() };
    await expect.poll(async () => (await waits.execute(own.db)).rows.length, { timeout: 15_000, interval: 2 }).toBe(1);
    const document = { type: 'object', required: ['a'] };
    await insertRevision(trx, { name: 'waits', document, source: 'command', plan: {}, mayBeUnfit: false, appliedBy: 'test' });
    return waiting;
  });
  expect((await write.answer).status).toBe(422);
});
