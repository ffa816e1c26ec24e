/** Reads entities for tests, and inserts rows directly into the database. */
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { expect } from 'vitest';
import { theService } from '../../src/audit/actor.ts';
import type { Database } from '../../src/database/tables.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import type { TestService } from './service.ts';

/** The body of an answer. */
export interface Entity {
  name: string;
  key: string;
  version: number;
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
  fields: Record<string, unknown>;
}

/** Inserts a row, with its history, under a key of the test's choice; callers of the service cannot choose the key. The owner is the name of a user; fields may be JSON text. */
export async function seed({ db }: TestService, name: string, key: string, fields: object | string, owner: string): Promise<void> {
  await sql`
    with written as (
      insert into entity (name, key, fields, created_by, updated_by) overriding system value
      values (${name}, ${key}, ${typeof fields === 'string' ? fields : JSON.stringify(fields)}, ${owner}, ${owner}) returning *
    )
    insert into entity_change (name, key, version, operation, changed_by, created_at, created_by, fields)
    select name, key, version, 'created', updated_by, created_at, created_by, fields from written`.execute(db);
}

/**
 * Runs `lock` in a transaction, sends the request that `send` sends, lets it wait for what the transaction has locked, and then runs `change` in the transaction. Returns
 * the answer of the request.
 */
export async function whileWaiting<T, R>(
  { db }: TestService,
  lock: RawBuilder<R>,
  send: () => Promise<T>,
  change: (trx: Transaction<Database>, locked: readonly R[]) => Promise<unknown>,
): Promise<T> {
  const { answer } = await db.transaction().execute(async (trx) => {
    const { rows } = await lock.execute(trx);
    const answer = send();
    const { rows: own } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    const waiting = sql`select from pg_stat_activity where ${own[0]?.pid}::int = any(pg_blocking_pids(pid))`;
    await expect.poll(async () => (await waiting.execute(db)).rows.length).toBeGreaterThan(0);
    await change(trx, rows);
    return { answer };
  });
  return await answer;
}

/** Sends the request, lets it wait for the row of the entity, and then puts the next version in place of the row, as a deletion and a restore do. */
export async function whileReplaced<T>(
  service: TestService,
  { name, key }: Pick<Entity, 'name' | 'key'>,
  send: () => Promise<T>,
): Promise<T> {
  const deletion = sql<{ row: string }>`
    delete from entity where name = ${name} and key = ${key} returning row_to_json(entity)::text as row`;
  return await whileWaiting(service, deletion, send, (trx, [deleted]) =>
    sql`
      insert into entity (name, key, version, fields, created_by, updated_by) overriding system value
      select name, key, version + 1, fields, created_by, updated_by
      from json_populate_record(null::entity, ${deleted?.row}::json)`.execute(trx),
  );
}

/** Every row called `name`, by key, with its fields as JSON text. */
export async function rowsOf({ db }: TestService, name: string): Promise<{ key: string; version: string; fields: string }[]> {
  return await db
    .selectFrom('entity')
    .where('name', '=', name)
    .orderBy('key')
    .select(['key', 'version', sql<string>`fields::text`.as('fields')])
    .execute();
}

/** Puts the document in force as the operator's command does, and waits until the service knows. */
export async function declareType({ store, context }: TestService, name: string, document: Record<string, unknown>): Promise<void> {
  await applyChange(store, theService, { name, document, source: 'command' }, { allowUnfit: true });
  await context.listener.settle();
}
