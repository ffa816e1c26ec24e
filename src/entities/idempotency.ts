/**
 * Creates that may be sent again: an Idempotency-Key makes the first of them create and all further ones repeat its answer (security
 * rule 79). The key belongs to the user and the entity name, so a retry may come by another session or API key of the same user.
 */
import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Store } from '../database/port.ts';
import type { Origin } from '../audit/store.ts';
import type { Permit } from '../rights/permit.ts';
import { violatedUnique, withUnknownOutcome } from '../database/failure.ts';
import { builder, prepare, type ValueOf } from '../database/driver/prepared.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import type { EntityRow } from './row.ts';
import { insertEntityWithKey, type CheckedFields } from './store.ts';
import { typeHasRevision } from './type-guard.ts';

const keepHours = 24;
/** Maximum number of attempts. The first may find an expired key; each further one means that another request took the key meanwhile. */
const rounds = 3;
const header = 'Idempotency-Key';

/**
 * The key in the header's `value`, without the quotes it may come in; undefined without the header. The contract has checked its form.
 * `rawHeaders` are the request's, as Node has them. Throws 400 when the header comes twice, which Node joins into what looks like one key.
 */
export function readIdempotencyKey(value: string | undefined, rawHeaders: readonly string[]): string | undefined {
  if (value === undefined) return undefined;
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === header.toLowerCase()).length > 1)
    throw new Problem('malformed-request', { faults: [{ parameter: header, code: 'repeated' }] });
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
}

export interface Created {
  row: EntityRow;
  /** Whether the entity had been created before and this only says so once more. */
  replayed: boolean;
}

interface Claim {
  userName: string;
  entity: string;
  key: string;
}

const at = (value: ValueOf<Claim>) =>
  sql<boolean>`user_name = ${value('userName')} and entity = ${value('entity')} and key = ${value('key')}`;
const live = sql<boolean>`created_at > now() - make_interval(hours => ${sql.lit(keepHours)})`;

type Replay = Claim & { fingerprint: Buffer; fields: string };
interface Found {
  same: boolean;
  live: boolean;
  entityKey: string;
  createdAt: Date;
  /** The fields of the repeated request as the database writes them, and so as it wrote those of the first if the fingerprint is the same. */
  fields: string;
}

const findClaim = prepare<Replay, Found>('idempotency.find', (value) =>
  builder
    .selectFrom('idempotency')
    .where(at(value))
    .select([
      sql<boolean>`fingerprint = ${value('fingerprint')}`.as('same'),
      live.as('live'),
      'entity_key as entityKey',
      'created_at as createdAt',
      sql<string>`${value('fields')}::jsonb::text`.as('fields'),
    ])
    .compile(),
);

const deleteExpired = prepare<Claim, never>('idempotency.expire', (value) =>
  builder
    .deleteFrom('idempotency')
    .where(sql<boolean>`${at(value)} and not ${live}`)
    .compile(),
);

/**
 * Stores new fields unless a request with the same key has within 24 hours, and returns the row as it was created. Undefined, with nothing
 * written, when the type has changed. Throws 422 `idempotency-key-reused` when that request had another body, 409 `idempotency-in-progress`
 * while it is still under way.
 */
export async function createOnce(
  store: Store,
  permit: Permit<'create'>,
  origin: Origin,
  key: string,
  checked: CheckedFields,
): Promise<Created | undefined> {
  const { fields, typeRevision } = checked;
  const { userName, entity } = permit;
  const fingerprint = createHash('sha256').update(fields).digest();
  for (let round = 0; round < rounds; round++) {
    const row = await insertUnlessTaken(store, permit, origin, { ...checked, key, fingerprint });
    if (row) return { row, replayed: false };
    const [found] = await store.run(findClaim, { userName, entity, key, fingerprint, fields });
    if (!found) {
      if (await typeHasRevision(store, entity, typeRevision)) break;
      return undefined;
    }
    if (found.live) return { row: repeat(found, permit), replayed: true };
    await withUnknownOutcome(store.run(deleteExpired, { userName, entity, key }));
  }
  throw new Problem('idempotency-in-progress', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
}

/**
 * What a request with the same key and body has created within 24 hours; undefined without one. For a repeat that a type refuses which has changed
 * since the creation.
 */
export async function findRepeat(store: Store, permit: Permit<'create'>, key: string, fields: string): Promise<Created | undefined> {
  const { userName, entity } = permit;
  const fingerprint = createHash('sha256').update(fields).digest();
  const [found] = await store.run(findClaim, { userName, entity, key, fingerprint, fields });
  return found?.live && found.same ? { row: repeat(found, permit), replayed: true } : undefined;
}

/** Undefined when the key is taken, be it that another request was faster by a moment. */
async function insertUnlessTaken(
  store: Store,
  permit: Permit<'create'>,
  origin: Origin,
  claim: CheckedFields & { key: string; fingerprint: Buffer },
): Promise<EntityRow | undefined> {
  try {
    return await insertEntityWithKey(store, permit, origin, claim);
  } catch (error) {
    if (violatedUnique(error) === 'idempotency_pkey') return undefined;
    throw error;
  }
}

/** The row as the first request was answered with it. */
function repeat({ same, entityKey, createdAt, fields }: Found, { entity, userName }: Permit<'create'>): EntityRow {
  if (!same) throw new Problem('idempotency-key-reused');
  return { name: entity, key: entityKey, version: '1', createdAt, createdBy: userName, updatedAt: createdAt, updatedBy: userName, fields };
}

/** Deletes up to `limit` keys that count no more; returns how many. Replicas do not wait for each other. */
export async function deleteOldKeys(db: Kysely<Database>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency where ctid = any(array(select ctid from idempotency where not ${live} limit ${limit} for update skip locked))`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
