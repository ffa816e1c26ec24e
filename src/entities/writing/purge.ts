/**
 * Removes what is stored of an entity for good: from the trash, and from all its versions. What stays is who changed it and when, and the audit trail
 * (decision 149).
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Caller } from '../../authn/caller.ts';
import type { Database } from '../../database/tables.ts';
import { afterCommittedPart } from '../../database/failure.ts';
import type { Permit } from '../../rights/permit.ts';
import { rowsOfPermit } from '../../rights/coverage.ts';
import { changeValues, entityChanged, type ChangeValues } from './changed.ts';
import { removeEntity, type RemovalRequest } from './delete.ts';
import { refusalOf } from './refusal.ts';
import { inRounds } from './rounds.ts';
import { requirePrecondition, type Guard } from './rules.ts';
import type { Writes } from './update.ts';
import { findState, placeOf, stateOf } from '../find-entity.ts';

/** Versions whose fields one transaction takes: about a second. */
const batchVersions = 10_000;

/** What the last row of a purged entity says, in the trash or in the history. */
interface LastRow {
  version: string;
  createdAt: Date;
  createdBy: string;
}

type PurgeStep = 'nothing' | 'more' | 'done';

/**
 * Purges the entity with this key. A live one is deleted first, for good, by the permit that `authorizeDelete` gives or refuses. Throws 403
 * or 404 if nothing is stored of an entity that the permit covers ({@link refusalOf}). Throws 412 if its version in the trash is none of
 * the accepted ones, and what {@link removeEntity} throws. Once a part is committed, each 503 is `outcome-unknown`: a repeat goes on with the rest.
 */
export async function purgeEntity(
  writes: Writes,
  permit: Permit<'purge'>,
  authorizeDelete: () => Permit<'delete'>,
  caller: Caller,
  removal: RemovalRequest,
): Promise<void> {
  const { store, admission, types } = writes;
  /** Whether a part of it is committed: the deletion, or the purge of some versions. */
  let isPartlyDone = false;
  const purgeSome = (isBegun: boolean) =>
    admission.run('heavy-write', { flow: permit.userName, caller }, () =>
      store.transaction((trx) => new Purge(trx, permit, caller, removal).run(isBegun)),
    );
  const begin = async () => {
    if (await stateOf(store, permit, removal.key)) {
      await removeEntity(writes, authorizeDelete(), caller, { ...removal, isFinal: true });
      isPartlyDone = true;
    }
    return await purgeSome(false);
  };
  const purge = async () => {
    let step = await inRounds(begin);
    if (step === 'nothing') {
      // Throws 404 where only declared names exist: entities of another name cannot be read.
      await types.find(permit.entity);
      throw await refusalOf(store, permit, removal.key);
    }
    while (step === 'more') {
      isPartlyDone = true;
      step = await inRounds(() => purgeSome(true));
    }
  };
  await afterCommittedPart(purge, () => isPartlyDone);
}

/** Whether a purge that finds no live entity would find something stored of it: in the trash, or in the history. */
export async function isStored(db: Kysely<Database>, permit: Permit<'purge'>, key: string): Promise<boolean> {
  const stored = (table: 'entity_trash' | 'entity_change') => sql`select from ${sql.table(table)} where ${rowsAt(permit, key, table)}`;
  const { rows } = await sql<{ found: boolean }>`
    select exists (${stored('entity_trash')}) or exists (${stored('entity_change')} and fields is not null) as found`.execute(db);
  return rows[0]?.found === true;
}

/** SQL: the rows of the entity in a table that the permit covers. */
const rowsAt = (permit: Permit<'purge'>, key: string, table: 'entity_trash' | 'entity_change') =>
  sql`${rowsOfPermit(permit, table)} and key = ${key}::bigint`;

class Purge {
  readonly #trx: Transaction<Database>;
  readonly #permit: Permit<'purge'>;
  readonly #change: ChangeValues;
  readonly #key: string;
  readonly #guard: Guard;

  constructor(trx: Transaction<Database>, permit: Permit<'purge'>, { origin }: Caller, { key, ...guard }: RemovalRequest) {
    this.#trx = trx;
    this.#permit = permit;
    this.#change = changeValues(permit, origin, '0');
    this.#key = key;
    this.#guard = guard;
  }

  /** Purges the entity, or with `isBegun` some more of its versions. Undefined if another request has restored it meanwhile. */
  async run(isBegun: boolean): Promise<PurgeStep | undefined> {
    const trashed = await this.#takeFromTrash();
    // What is neither here nor there cannot come back, so its history stays as it is until the end of the transaction.
    const [live] = (await this.#trx.executeQuery(findState(this.#permit).query(placeOf(this.#permit, this.#key)))).rows;
    if (live) return undefined;
    const last = (await this.#lastVersion()) ?? trashed;
    if (!last) return 'nothing';
    const { rows } = await sql<{ purged: number }>`
      select purge_entity_history(${this.#permit.entity}, ${this.#key}::bigint, ${batchVersions}::integer) as purged`.execute(this.#trx);
    const purged = rows[0]?.purged ?? 0;
    // Another request has purged it meanwhile.
    if (purged === 0 && !trashed) return 'nothing';
    if (!isBegun) await this.#record(last);
    return purged < batchVersions ? 'done' : 'more';
  }

  async #takeFromTrash(): Promise<LastRow | undefined> {
    const { rows } = await sql<LastRow>`
      delete from entity_trash where ${rowsAt(this.#permit, this.#key, 'entity_trash')}
      returning version, created_at as "createdAt", created_by as "createdBy"`.execute(this.#trx);
    const [row] = rows;
    if (row) requirePrecondition(undefined, this.#guard, row.version);
    return row;
  }

  /** Also one that is older than the history shows. */
  async #lastVersion(): Promise<LastRow | undefined> {
    const { rows } = await sql<LastRow>`
      select version, created_at as "createdAt", created_by as "createdBy" from entity_change
      where ${rowsAt(this.#permit, this.#key, 'entity_change')} and fields is not null
      order by version desc, id desc limit 1`.execute(this.#trx);
    return rows[0];
  }

  /** Writes the event, and the last version without fields. */
  async #record({ version, createdAt, createdBy }: LastRow): Promise<void> {
    const { entity } = this.#permit;
    await entityChanged({
      event: 'entity.purged',
      written: sql`
        select ${entity}::text as name, ${this.#key}::bigint as key, ${version}::bigint as version, ${createdAt}::timestamptz as created_at,
          ${createdBy}::text as created_by, null::jsonb as fields`,
      value: (name) => sql`${this.#change[name]}`,
      returning: sql.ref('key'),
    }).execute(this.#trx);
  }
}
