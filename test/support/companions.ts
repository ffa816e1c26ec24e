/** The companion tables of declared types. */
import { sql } from 'kysely';
import type { Companion } from '../../src/companion/layout.ts';
import { inSchema } from '../../src/companion/table.ts';
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
  const companion = { ...(await companionOfName(service, name)), state: 'building' as const, complete: null };
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
