/**
 * Deletes an entity to which others refer. What happens to these is what their types declare as `onDelete`: they keep the entity from being deleted,
 * are deleted too, or lose the reference. All of it is one transaction, and PostgreSQL refuses to commit a reference to no entity.
 */
import { sql, type Kysely } from 'kysely';
import type { CompanionReference } from '../../companion/layout.ts';
import type { Database } from '../../database/tables.ts';
import type { EntityTypes } from '../../entity-types/types.ts';
import type { ChangeValues } from '../changed.ts';
import { clearVictims, deleteVictims, type Victim } from './consequences.ts';
import { referrersOf, type Referrer } from './referrers.ts';
import { lockEntities, lockRows, referringKeys, type Deleted } from './removal-statements.ts';
import { keysByName, maximumVictims, StillReferencedError } from './still-referenced.ts';

/** Entities of one name, locked. */
interface Removed extends Deleted {
  keys: string[];
  /** By key, of the fields as JSON. */
  bytes: ReadonlyMap<string, number>;
}

interface Cleared {
  referrer: Referrer;
  reference: CompanionReference;
  victims: Victim[];
}

/** One deletion with its consequences, in the transaction `trx`, which keeps the types as they are. */
export class Removal {
  readonly #trx: Kysely<Database>;
  readonly #types: EntityTypes;
  readonly #change: ChangeValues;
  /** By name, the keys of entities that other deletions of the transaction delete. */
  readonly #going: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #removed: Removed[] = [];
  readonly #cleared: Cleared[] = [];
  readonly #blocking: { name: string; keys: string[] }[] = [];

  constructor(
    trx: Kysely<Database>,
    types: EntityTypes,
    change: ChangeValues,
    going: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
  ) {
    this.#trx = trx;
    this.#going = going;
    this.#types = types;
    this.#change = change;
  }

  /**
   * Deletes the entity with this key, which the caller has locked. Throws a {@link StillReferencedError} if entities keep it from being deleted, or
   * if more than 1,000 would be deleted or changed. With `checksLater` the caller lets PostgreSQL check the references.
   */
  async run(deleted: Deleted, key: string, { checksLater = false } = {}): Promise<void> {
    await this.#remove({ ...deleted, keys: [key], bytes: new Map() });
    const blocking = this.#blocking.map(({ name: each, keys }) => ({ name: each, keys: this.#withoutRemoved(each, keys) }));
    if (blocking.some(({ keys }) => keys.length > 0)) throw new StillReferencedError(keysByName(blocking), 'restrict');
    await sql`set constraints all deferred`.execute(this.#trx);
    for (const cleared of this.#cleared) await this.#clear(cleared);
    for (const removed of this.#removed.toReversed()) {
      const victims = removed.keys.map((each) => ({ key: each, bytes: removed.bytes.get(each) ?? 0 }));
      await deleteVictims(this.#trx, removed, victims, this.#change);
    }
    if (!checksLater) await sql`set constraints all immediate`.execute(this.#trx);
  }

  /** Finds and locks what the removal of locked entities concerns. */
  async #remove(removed: Removed): Promise<void> {
    this.#removed.push(removed);
    await lockRows(removed.companion, removed.keys).execute(this.#trx);
    for (const referrer of await referrersOf(this.#trx, removed.name))
      for (const reference of referrer.references) await this.#follow(referrer, reference, removed.keys);
  }

  async #follow(referrer: Referrer, reference: CompanionReference, targets: readonly string[]): Promise<void> {
    const { name, companion, trashKeep } = referrer;
    const limit = maximumVictims + 1;
    const { rows } = await referringKeys(companion, reference, targets, { limit }).execute(this.#trx);
    const found = this.#withoutRemoved(
      name,
      rows.map(({ key }) => key),
    );
    if (found.length === 0) return;
    if (reference.onDelete === 'restrict') {
      this.#blocking.push({ name, keys: found });
      return;
    }
    const locked = await lockEntities(name, found).execute(this.#trx);
    const among = locked.rows.map(({ key }) => key);
    // Some may have lost the reference before they were locked.
    const referring = new Set(
      (await referringKeys(companion, reference, targets, { limit, among }).execute(this.#trx)).rows.map(({ key }) => key),
    );
    const victims = locked.rows.filter(({ key }) => referring.has(key));
    if (victims.length === 0) return;
    if (reference.onDelete === 'set-null') this.#cleared.push({ referrer, reference, victims });
    this.#refuseTooMany(reference.onDelete === 'cascade' ? { name, keys: victims.map(({ key }) => key) } : undefined);
    const bytes = new Map(victims.map((victim) => [victim.key, victim.bytes]));
    if (reference.onDelete === 'cascade') await this.#remove({ name, companion, trashKeep, keys: [...bytes.keys()], bytes });
  }

  #refuseTooMany(next: Pick<Removed, 'name' | 'keys'> | undefined): void {
    const cleared = this.#cleared.map(({ referrer, victims }) => ({ name: referrer.name, keys: victims.map(({ key }) => key) }));
    const all = [...this.#removed.slice(1), ...cleared, ...(next ? [next] : [])];
    if (all.reduce((sum, { keys }) => sum + keys.length, 0) > maximumVictims) throw new StillReferencedError(keysByName(all), 'too many');
  }

  #withoutRemoved(name: string, keys: readonly string[]): string[] {
    const removed = new Set(this.#removed.filter((each) => each.name === name).flatMap((each) => each.keys));
    return keys.filter((key) => !removed.has(key) && !this.#going.get(name)?.has(key));
  }

  async #clear({ referrer, reference, victims }: Cleared): Promise<void> {
    const keys = this.#withoutRemoved(
      referrer.name,
      victims.map(({ key }) => key),
    );
    const rest = victims.filter(({ key }) => keys.includes(key));
    await clearVictims(this.#trx, this.#types, { referrer, reference, victims: rest }, this.#change);
  }
}
