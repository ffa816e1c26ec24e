/** The companion tables of declared types. */
import { sql } from 'kysely';
import type { Companion } from '../../src/entities/companion/layout.ts';
import { inSchema } from '../../src/entities/companion/table.ts';
import { dropLeftovers } from '../../src/entity-types/leftovers.ts';
import { findStoredType, insertRevision, lockTypes } from '../../src/entity-types/store.ts';
import { declareType } from './entities.ts';
import type { TestService } from './service.ts';

/** Declares a type with rules, and returns its companion table. */
export async function declareWithRules(service: TestService, name: string, document: Record<string, unknown>): Promise<Companion> {
  await declareType(service, name, { type: 'object', ...document });
  return await companionOfName(service, name);
}

/** The companion table as the type in force describes it. */
async function companionOfName({ db }: TestService, name: string): Promise<Companion> {
  const { companion } = await findStoredType(db, name);
  if (!companion) throw new Error(`${name} has no companion table`);
  return companion;
}

/** Puts a revision in force under which the companion table is being built: rows may be missing. */
export async function beginBuilding(service: TestService, name: string): Promise<Companion> {
  return await storeLayout(service, name, (companion) => ({ ...companion, state: 'building', complete: null }));
}

/**
 * Puts a revision in force whose companion table is as an earlier version built it: without what `before` leaves out of the layout.
 * Entities that are written afterwards have the values of that layout alone.
 */
export async function storeEarlierLayout(
  service: TestService,
  name: string,
  before: (companion: Companion) => Companion,
): Promise<Companion> {
  const companion = await storeLayout(service, name, before);
  await dropLeftovers(service.store, name);
  return companion;
}

async function storeLayout(service: TestService, name: string, layout: (companion: Companion) => Companion): Promise<Companion> {
  const companion = layout(await companionOfName(service, name));
  await service.store.transaction(async (trx) => {
    await lockTypes(trx);
    const { type } = await findStoredType(trx, name);
    const { document = null, source = 'command' } = type ?? {};
    await insertRevision(trx, { name, document, source, plan: {}, mayBeUnfit: false, appliedBy: 'test', companion });
  });
  await service.context.listener.settle();
  return companion;
}

/** The rows of the companion table, by key. */
export async function companionRows({ db }: TestService, { table }: Companion): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<Record<string, unknown>>`select *, xmin::text from ${inSchema(table)} order by key`.execute(db);
  return rows;
}

/** Inserts entities called `name` whose `field` refers to `target`, with their companion rows. Returns their keys, in order. */
export async function addReferrers(
  { db }: TestService,
  { table, columns }: Companion,
  { name, field, target, count }: { name: string; field: string; target: string; count: number },
): Promise<string[]> {
  const column = columns.find((each) => each.field[0] === field)?.name ?? '';
  const { rows } = await sql<{ key: string }>`
    with made as (
      insert into entity (name, fields, created_by, updated_by)
      select ${name}, jsonb_build_object(${field}::text, ${target}::text), 'ada', 'ada' from generate_series(1, ${count}) returning key
    ), rows as (insert into ${inSchema(table)} (key, ${sql.ref(column)}) select key, ${target}::bigint from made)
    select key from made order by key`.execute(db);
  return rows.map(({ key }) => key);
}
