/** A purge in portions ends as a deletion in one transaction does, for random entities that refer to each other (decision 273). */
import * as fc from 'fast-check';
import { sql, type Kysely } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../src/database/tables.ts';
import { Removal } from '../../../src/entities/writing/removal.ts';
import { holdTypes } from '../../../src/entities/writing/removal-statements.ts';
import { findRestrictions } from '../../../src/entities/writing/restrictions.ts';
import { StillReferencedError } from '../../../src/entities/writing/still-referenced.ts';
import type { EntityType } from '../../../src/entity-types/types.ts';
import { modelCase, modelDocument, modelNames, modelOutcome, type ModelEntity } from '../../support/deletion-model.ts';
import { declareType } from '../../support/entities.ts';
import { useService } from '../../support/service.ts';

const service = useService();
const types = new Map<string, EntityType>();

beforeAll(async () => {
  for (const isBare of [true, false]) for (const name of modelNames) await declareType(service(), name, modelDocument(name, isBare));
  for (const name of modelNames) {
    const type = await service().context.entityTypes.find(name);
    if (type) types.set(name, type);
  }
});

const companionOf = (name: string) => {
  const companion = types.get(name)?.companion;
  if (!companion) throw new Error(`${name} has no companion table`);
  return companion;
};
const byKey = (one: { key: string }, other: { key: string }) => Number(BigInt(one.key) - BigInt(other.key));
const keysIn = (entity: ModelEntity) => Object.fromEntries([...entity.references].map(([field, target]) => [field.name, target.key]));

async function insert(trx: Kysely<Database>, entities: readonly ModelEntity[]): Promise<void> {
  await sql`set constraints all deferred`.execute(trx);
  const rows = entities.map((entity) => ({ name: entity.name, key: entity.key, fields: keysIn(entity) }));
  await sql`
    insert into entity (name, key, fields, created_by, updated_by) overriding system value
    select name, key, fields, 'ada', 'ada' from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (name text, key bigint, fields jsonb)`.execute(
    trx,
  );
  for (const name of new Set(entities.map((entity) => entity.name))) {
    const { table, columns } = companionOf(name);
    const values = columns.map(({ field }) => sql`(fields ->> ${sql.lit(field[0])})::bigint`);
    await sql`
      insert into ${sql.table(`entity_data.${table}`)} (key, ${sql.join(columns.map((column) => sql.ref(column.name)))})
      select key, ${sql.join(values)} from entity where name = ${name}`.execute(trx);
  }
  await sql`set constraints all immediate`.execute(trx);
}

/** The stored state of the entities: those that are live, their rows, those in the trash, and what has been done to each. */
async function storedNow(trx: Kysely<Database>) {
  const { rows: live } = await sql<{ key: string }>`
    select key, version, fields from entity where name like 'node%' order by key`.execute(trx);
  const { rows: trash } = await sql<object>`select key, version, fields from entity_trash order by key`.execute(trx);
  const { rows: changes } = await sql<object>`select key, version, operation from entity_change order by key, version`.execute(trx);
  const { rows: events } = await sql<object>`
    select detail ->> 'key' as key, event, count(*)::int as count from audit_event where event in ('entity.deleted', 'entity.updated')
    group by 1, 2 order by 1, 2`.execute(trx);
  const rows: { key: string; fields: object }[] = [];
  for (const name of modelNames) {
    const { table, columns } = companionOf(name);
    const pairs = columns.flatMap((column) => [sql.lit(column.field[0]), sql`${sql.ref(column.name)}::text`]);
    const { rows: found } = await sql<{ key: string; fields: object }>`
      select key, jsonb_strip_nulls(jsonb_build_object(${sql.join(pairs)})) as fields from ${sql.table(`entity_data.${table}`)}`.execute(
      trx,
    );
    rows.push(...found);
  }
  return { live, trash, changes, events, rows: rows.toSorted(byKey) };
}

function expectedAfter(entities: readonly ModelEntity[]) {
  const { going, cleared } = modelOutcome(entities);
  const sorted = entities.toSorted(byKey);
  const survivors = sorted.filter((entity) => !going.has(entity));
  const lost = (entity: ModelEntity) => cleared.get(entity) ?? [];
  const isTrashed = (entity: ModelEntity) => entity !== entities[0] && modelDocument(entity.name, true)['x-soft-delete'] === true;
  return {
    live: survivors.map((entity) => ({
      key: entity.key,
      version: String(1 + lost(entity).length),
      fields: { ...keysIn(entity), ...Object.fromEntries(lost(entity).map(({ name }) => [name, null])) },
    })),
    trash: sorted
      .filter((entity) => going.has(entity) && isTrashed(entity))
      .map((entity) => ({ key: entity.key, version: '1', fields: keysIn(entity) })),
    changes: sorted.flatMap((entity): object[] =>
      going.has(entity)
        ? [{ key: entity.key, version: '1', operation: 'deleted' }]
        : lost(entity).map((_, index) => ({ key: entity.key, version: String(index + 2), operation: 'updated' })),
    ),
    events: sorted.flatMap((entity): object[] => {
      if (going.has(entity)) return [{ key: entity.key, event: 'entity.deleted', count: 1 }];
      return lost(entity).length === 0 ? [] : [{ key: entity.key, event: 'entity.updated', count: lost(entity).length }];
    }),
    rows: survivors.map((entity) => {
      const kept = Object.entries(keysIn(entity)).filter(([field]) => lost(entity).every(({ name }) => name !== field));
      return { key: entity.key, fields: Object.fromEntries(kept) };
    }),
  };
}

class Undone extends Error {}

/** Runs `work` on the entities, and undoes all of it. */
async function onEntities(entities: readonly ModelEntity[], work: (trx: Kysely<Database>) => Promise<void>): Promise<void> {
  const running = service()
    .db.transaction()
    .execute(async (trx) => {
      await insert(trx, entities);
      await holdTypes.execute(trx);
      await work(trx);
      throw new Undone();
    });
  await expect(running).rejects.toThrow(Undone);
}

const changesIn = async (trx: Kysely<Database>) => {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from entity_change where key >= 9000000000`.execute(trx);
  return rows[0]?.count ?? 0;
};

async function compare(entities: readonly ModelEntity[], limit: number): Promise<void> {
  const [root] = entities;
  if (!root) return;
  const deleted = { name: root.name, companion: companionOf(root.name), trashKeep: null };
  const change = {
    userName: 'ada',
    sessionId: null,
    requestId: '00000000-0000-4000-8000-000000000000',
    credential: 'command',
    address: '127.0.0.1',
    userAgent: null,
  };
  const removalIn = (trx: Kysely<Database>, most: number) =>
    new Removal(trx, service().context.entityTypes, { ...change, typeRevision: types.get(root.name)?.revision ?? '0' }, { limit: most });
  const { restricting, largestSet } = modelOutcome(entities);
  const expected = expectedAfter(entities);
  await onEntities(entities, async (trx) => {
    expect(await findRestrictions(trx, root.name, root.key)).toEqual(restricting);
    const whole = removalIn(trx, 1_000).run(deleted, root.key);
    if (restricting.size === 0) await whole;
    else await expect(whole).rejects.toMatchObject({ obstacle: 'restrict', keys: restricting });
    if (restricting.size === 0) expect(await storedNow(trx)).toEqual(expected);
  });
  if (restricting.size > 0) return;
  await onEntities(entities, async (trx) => {
    const portions = async () => {
      for (let isLast = false; !isLast;) {
        const before = await changesIn(trx);
        const done = await removalIn(trx, limit).runPortion(deleted, root.key);
        expect((await changesIn(trx)) - before).toBe(done.count);
        expect(done.count).toBeLessThanOrEqual(limit);
        ({ isLast } = done);
      }
      await removalIn(trx, limit).run(deleted, root.key);
    };
    if (largestSet > limit) {
      await expect(portions()).rejects.toThrow(StillReferencedError);
      return;
    }
    await portions();
    expect(await storedNow(trx)).toEqual(expected);
  });
}

test('with the same rows, trash, history and events, unless more entities than the limit only go together', async () => {
  await fc.assert(
    fc.asyncProperty(modelCase, ({ entities, limit }) => compare(entities, limit)),
    { seed: 273, endOnFailure: true, numRuns: 150 },
  );
}, 180_000);
