/**
 * Deletes or changes a portion of what refers to an entity, before a purge deletes the entity itself. Entities to which nothing refers are deleted first, so that
 * each portion can be a transaction of its own (decision 273).
 */
import { sql, type Kysely } from 'kysely';
import type { CompanionReference } from '../companion/layout.ts';
import type { Database } from '../../database/tables.ts';
import type { EntityTypes } from '../../entity-types/types.ts';
import type { ChangeValues } from './changed.ts';
import { clearVictims, deleteVictims } from './consequences.ts';
import { referrersOf, type Referrer } from './referrers.ts';
import { lockEntities, lockRows, newestReferringKeys, referredKeys, referringKeys, type Deleted } from './removal-statements.ts';
import { keysByName, maximumVictims, StillReferencedError } from './still-referenced.ts';

/** Entities of one name. */
interface Targets extends Deleted {
  keys: readonly string[];
}

export interface PortionDone {
  /** The number of entities that were deleted or changed. */
  count: number;
  /** Whether nothing refers to the entity any more. */
  isLast: boolean;
}

export class Portion {
  readonly #trx: Kysely<Database>;
  readonly #types: EntityTypes;
  readonly #change: ChangeValues;
  readonly #blocking: { name: string; keys: string[] }[] = [];
  #room = maximumVictims;

  /** For one portion in the transaction `trx`, which keeps the types as they are. */
  constructor(trx: Kysely<Database>, types: EntityTypes, change: ChangeValues) {
    this.#trx = trx;
    this.#types = types;
    this.#change = change;
  }

  /**
   * Deletes or changes at most 1,000 of the entities that refer to the one with this key, which the caller has locked, or to one that is deleted with it. Throws
   * a {@link StillReferencedError} if the others restrict the deletion, or would not fit their type.
   */
  async run(deleted: Deleted, key: string): Promise<PortionDone> {
    await sql`set constraints all deferred`.execute(this.#trx);
    const isLast = (await this.#release({ ...deleted, keys: [key] })).length > 0;
    const count = maximumVictims - this.#room;
    if (!isLast && count === 0) throw new StillReferencedError(keysByName(this.#blocking), 'restrict');
    await sql`set constraints all immediate`.execute(this.#trx);
    return { count, isLast };
  }

  /** Takes what refers to the entities, as far as there is room, and returns the keys of those to which only they themselves refer. */
  async #release(targets: Targets): Promise<readonly string[]> {
    await lockRows(targets.companion, targets.keys).execute(this.#trx);
    const referrers = await referrersOf(this.#trx, targets.name);
    for (const referrer of referrers)
      for (const reference of referrer.references) if (reference.onDelete !== 'restrict') await this.#take(referrer, reference, targets);
    return await this.#unreferenced(referrers, targets);
  }

  async #take(referrer: Referrer, reference: CompanionReference, targets: Targets): Promise<void> {
    if (this.#room === 0) return;
    const { name, companion } = referrer;
    // Entities that refer to one another go together.
    const except = name === targets.name ? targets.keys : [];
    const found = await newestReferringKeys(companion, reference, targets.keys, { limit: this.#room, except }).execute(this.#trx);
    const locked = await lockEntities(
      name,
      found.rows.map(({ key }) => key),
    ).execute(this.#trx);
    const among = locked.rows.map(({ key }) => key);
    // Some may have lost the reference before they were locked.
    const { rows } = await referringKeys(companion, reference, targets.keys, { limit: this.#room, among }).execute(this.#trx);
    const referring = new Set(rows.map(({ key }) => key));
    const victims = locked.rows.filter(({ key }) => referring.has(key));
    if (victims.length === 0) return;
    if (reference.onDelete === 'set-null') {
      await clearVictims(this.#trx, this.#types, { referrer, reference, victims }, this.#change);
      this.#room -= victims.length;
      return;
    }
    const free = new Set(await this.#deletable({ ...referrer, keys: [...referring] }));
    await deleteVictims(
      this.#trx,
      referrer,
      victims.filter(({ key }) => free.has(key)),
      this.#change,
    );
    this.#room -= free.size;
  }

  /** Those of the entities that can be deleted now, as far as there is room behind what refers to them. */
  async #deletable(targets: Targets): Promise<readonly string[]> {
    const released = await this.#release(targets);
    if (released.length <= this.#room) return released;
    const newest = released.toSorted((one, other) => Number(BigInt(other) - BigInt(one))).slice(0, this.#room);
    return await this.#unreferenced(await referrersOf(this.#trx, targets.name), { ...targets, keys: newest });
  }

  /** The keys of those entities to which only they themselves refer. */
  async #unreferenced(referrers: readonly Referrer[], targets: Targets): Promise<readonly string[]> {
    let keys = targets.keys;
    for (let before = -1; before !== keys.length && keys.length > 0;) {
      before = keys.length;
      for (const { name, companion, references } of referrers) {
        for (const reference of references) {
          const { rows } = await referredKeys(companion, reference, keys, name === targets.name ? keys : []).execute(this.#trx);
          const referred = new Set(rows.map(({ key }) => key));
          if (referred.size === 0) continue;
          keys = keys.filter((key) => !referred.has(key));
          if (reference.onDelete !== 'restrict') continue;
          const blocking = await referringKeys(companion, reference, [...referred], { limit: maximumVictims + 1 }).execute(this.#trx);
          this.#blocking.push({ name, keys: blocking.rows.map(({ key }) => key) });
        }
      }
    }
    return keys;
  }
}
