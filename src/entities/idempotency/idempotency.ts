/**
 * Idempotency-Keys and what the first request with each of them did (security rule 79). A key belongs to the user, the operation and the entity name, so a
 * retry may come by another session or API key of the same user.
 */
import { createHash } from 'node:crypto';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { builder, prepare, type ValueOf } from '../../database/driver/prepared.ts';
import type { Database } from '../../database/tables.ts';
import type { Action } from '../../rights/vocabulary.ts';
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';

const keepHours = 24;
const header = 'Idempotency-Key';

/**
 * The key in the header's `value`, without the quotes it may come in; undefined without the header. The contract has checked its form.
 * `rawHeaders` are the request's, as Node has them. Throws 400 when the header comes twice, which Node joins into what looks like one key.
 */
function readIdempotencyKey(value: string | undefined, rawHeaders: readonly string[]): string | undefined {
  if (value === undefined) return undefined;
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === header.toLowerCase()).length > 1)
    throw new Problem('malformed-request', { faults: [{ parameter: header, code: 'repeated' }] });
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
}

/** Where a request has an Idempotency-Key. */
interface KeyedRequest {
  headers: { 'idempotency-key'?: string };
  request: { raw: { rawHeaders: readonly string[] } };
}

/**
 * The claim of a request; undefined without the header. `conditions` are the parts of the path, the query and the preconditions that count besides the
 * operation and the name: another request has another one of them, or another body. Throws 400 for a header that comes twice.
 */
export function readClaim(
  { headers, request }: KeyedRequest,
  { userName, entity }: Pick<Permit<Action>, 'userName' | 'entity'>,
  operation: string,
  body: string,
  conditions?: readonly (string | undefined)[],
): Claim | undefined {
  const key = readIdempotencyKey(headers['idempotency-key'], request.raw.rawHeaders);
  return key === undefined ? undefined : { userName, entity, operation, key, fingerprint: fingerprintOf(body, conditions) };
}

/** What a key is claimed for: the primary key of the table. */
export interface ClaimPlace {
  userName: string;
  /** The entity name of the path; empty for a batch. */
  entity: string;
  /** The operationId; of one operation of a batch that is no transaction with `/` and its index. */
  operation: string;
  /** The Idempotency-Key, bare. */
  key: string;
}

export interface Claim extends ClaimPlace {
  /** SHA-256 of what makes two requests the same. */
  fingerprint: Buffer;
}

/** What a request did to one entity: the part of its answer that is stored. */
export interface Effect {
  status: 200 | 201 | 204;
  key: string;
  /** Null after a deletion. */
  version: string | null;
}

function fingerprintOf(body: string, conditions?: readonly (string | undefined)[]): Buffer {
  const hash = createHash('sha256');
  if (conditions) hash.update(`${JSON.stringify(conditions.map((condition) => condition ?? null))}\n`);
  return hash.update(body).digest();
}

/** SQL: whether the row is that of the claim. */
export const isAt = (value: ValueOf<ClaimPlace>): RawBuilder<boolean> =>
  sql<boolean>`user_name = ${value('userName')} and entity = ${value('entity')} and operation = ${value('operation')} and key = ${value('key')}`;

/** SQL: locks the claim until the end of the transaction; false if another transaction has the lock. */
export const locksClaim = (value: ValueOf<ClaimPlace>): RawBuilder<boolean> => {
  const parts = ['userName', 'entity', 'operation', 'key'] as const;
  const place = sql.join(parts.map((part) => sql`${value(part)}::text`));
  return sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(jsonb_build_array(${place})::text, 0))`;
};

const live = sql<boolean>`created_at > now() - make_interval(hours => ${sql.lit(keepHours)})`;

/** What is stored under a key. */
interface FoundClaim {
  /** Whether the request was the same. */
  same: boolean;
  live: boolean;
}

/** What is stored under the key of a create. */
export interface FoundCreation extends FoundClaim {
  entityKey: string;
  createdAt: string;
  /** The fields of the repeat as the database writes them, and so as it wrote those of the first request if both are the same. */
  fields: string;
}

const found = (value: ValueOf<Claim>) =>
  builder
    .selectFrom('idempotency')
    .where(isAt(value))
    .select([sql<boolean>`fingerprint = ${value('fingerprint')}`.as('same'), live.as('live')]);

export const findCreation = prepare<Claim & { fields: string }, FoundCreation>('idempotency.find', (value) =>
  found(value)
    .select([
      sql<string>`entity_key`.as('entityKey'),
      sql<string>`created_at::text`.as('createdAt'),
      sql<string>`${value('fields')}::jsonb::text`.as('fields'),
    ])
    .compile(),
);

interface LockedClaim {
  isLocked: boolean;
  same: boolean | null;
  live: boolean | null;
  results: Effect[] | null;
}

/** What is stored under the key of another write, and whether the lock was had. */
const lockAndFind = prepare<Claim, LockedClaim>('idempotency.lock', (value) =>
  builder
    .selectFrom(sql<{ isLocked: boolean }>`(select ${locksClaim(value)} as "isLocked")`.as('lock'))
    .leftJoin(
      found(value)
        .select(sql<Effect[]>`results`.as('results'))
        .as('found'),
      (join) => join.onTrue(),
    )
    .select(['isLocked', 'same', 'live', 'results'])
    .compile(),
);

const insertClaim = prepare<Claim & { results: string }, { inserted: boolean }>('idempotency.insert', (value) =>
  sql<{ inserted: boolean }>`
    insert into idempotency (user_name, entity, operation, key, fingerprint, results)
    values (${value('userName')}, ${value('entity')}, ${value('operation')}, ${value('key')}, ${value('fingerprint')}, ${value('results')}::jsonb)
    on conflict (user_name, entity, operation, key) do update
      set fingerprint = excluded.fingerprint, results = excluded.results, created_at = excluded.created_at where not idempotency.${live}
    returning true as inserted`.compile(builder),
);

export const deleteExpired = prepare<ClaimPlace, never>('idempotency.expire', (value) =>
  builder
    .deleteFrom('idempotency')
    .where(sql<boolean>`${isAt(value)} and not ${live}`)
    .compile(),
);

/** The request with the same key is still under way, or others are always faster. */
export const inProgress = () => new Problem('idempotency-in-progress', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });

/**
 * Claims the key until the end of the transaction. Returns what the request did that had it before, within 24 hours; undefined for the first one. Throws 422
 * `idempotency-key-reused` if that was another request, and 409 `idempotency-in-progress` while it is under way.
 */
export async function claimKey(trx: Kysely<Database>, claim: Claim): Promise<readonly Effect[] | undefined> {
  const [row] = (await trx.executeQuery(lockAndFind.query(claim))).rows;
  if (row?.live) {
    if (!row.same) throw new Problem('idempotency-key-reused');
    return row.results ?? [];
  }
  if (!row?.isLocked) throw inProgress();
  return undefined;
}

/** Stores what the request did. False if another one was faster by a moment: then the transaction must be rolled back. */
export async function storeEffects(trx: Kysely<Database>, claim: Claim, effects: readonly Effect[]): Promise<boolean> {
  const { rows } = await trx.executeQuery(insertClaim.query({ ...claim, results: JSON.stringify(effects) }));
  return rows.length > 0;
}

/** Deletes up to `limit` keys that count no more; returns how many. Replicas do not wait for each other. */
export async function deleteOldKeys(db: Kysely<Database>, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select user_name, entity, operation, key from idempotency where not ${live} limit ${limit} for update skip locked
    )
    delete from idempotency as stored using old
    where (stored.user_name, stored.entity, stored.operation, stored.key) = (old.user_name, old.entity, old.operation, old.key)`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
