/**
 * Deletes an entity to which others refer. What happens to these is what their types declare as `onDelete`: they keep the entity from being deleted,
 * are deleted too, or lose the reference. All of it is one transaction, and PostgreSQL refuses to commit a reference to no entity.
 */
import { sql, type Kysely } from 'kysely';
import type { Companion, CompanionReference, CompanionValues } from '../../companion/layout.ts';
import { companionValues } from '../../companion/values.ts';
import type { Database } from '../../database/tables.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { Problem } from '../../errors.ts';
import type { ChangeValues } from '../changed.ts';
import { referrersOf, type Referrer } from './referrers.ts';
import {
  clearReferences,
  deleteEntities,
  fieldsWithout,
  lockEntities,
  lockRows,
  referringKeys,
  type Deleted,
} from './removal-statements.ts';
import { parseJson } from '../../parse-json.ts';

/** The most entities that one deletion deletes or changes besides its own. */
const maximumVictims = 1_000;
/** Entities of more bytes are not changed by one statement. */
const maximumBytes = 4_194_304;
const maximumRows = 200;

/** Entities of one name, locked. */
interface Removed extends Deleted {
  keys: string[];
  /** By key, of the fields as JSON. */
  bytes: ReadonlyMap<string, number>;
}

interface Cleared {
  referrer: Referrer;
  reference: CompanionReference;
  victims: { key: string; bytes: number }[];
}

/** The entities that keep another one from being deleted: the answer tells their names and numbers to callers who may read them. */
export class StillReferencedError extends Error {
  override readonly name = 'StillReferencedError';
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  constructor(keys: ReadonlyMap<string, ReadonlySet<string>>) {
    super('the entity is still referenced');
    this.keys = keys;
  }
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
    if (blocking.some(({ keys }) => keys.length > 0)) throw new StillReferencedError(keysByName(blocking));
    await sql`set constraints all deferred`.execute(this.#trx);
    for (const cleared of this.#cleared) await this.#clear(cleared);
    for (const removed of this.#removed.toReversed()) {
      const rest = removed.keys.map((each) => ({ key: each, bytes: removed.bytes.get(each) ?? 0 }));
      while (rest.length > 0) await deleteEntities(removed, nextBatch(rest), this.#change).execute(this.#trx);
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
    if (all.reduce((sum, { keys }) => sum + keys.length, 0) > maximumVictims) throw new StillReferencedError(keysByName(all));
  }

  #withoutRemoved(name: string, keys: readonly string[]): string[] {
    const removed = new Set(this.#removed.filter((each) => each.name === name).flatMap((each) => each.keys));
    return keys.filter((key) => !removed.has(key) && !this.#going.get(name)?.has(key));
  }

  /** Puts null in place of references. Entities that would not fit their type keep the entity from being deleted. */
  async #clear({ referrer: { name, revision, companion }, reference, victims }: Cleared): Promise<void> {
    const path = companion.columns.find((column) => column.name === reference.column)?.field ?? [];
    const removed = this.#withoutRemoved(
      name,
      victims.map(({ key }) => key),
    );
    const rest = victims.filter(({ key }) => removed.includes(key));
    const type = await this.#types.at(name, revision);
    while (rest.length > 0) {
      const keys = nextBatch(rest);
      const { rows } = await fieldsWithout(name, path, keys).execute(this.#trx);
      const values = rows.map(({ key, fields }) => ({ key, values: checked(name, type, companion, key, parseJson(fields)) }));
      await clearReferences(name, companion, path, values, this.#change).execute(this.#trx);
    }
  }
}

/** Throws a {@link StillReferencedError} unless the fields fit the type. */
function checked(name: string, type: EntityType | undefined, companion: Companion, key: string, fields: unknown): CompanionValues {
  try {
    type?.check(fields);
    return companionValues(companion, fields);
  } catch (error) {
    if (error instanceof Problem) throw new StillReferencedError(new Map([[name, new Set([key])]]));
    throw error;
  }
}

/** Takes entities from the front of `victims`: at least one, at most 200, and others only up to 4 MiB. */
function nextBatch(victims: { key: string; bytes: number }[]): string[] {
  let bytes = 0;
  const end = victims.findIndex((victim, index) => (bytes += victim.bytes) > maximumBytes && index > 0);
  return victims.splice(0, Math.min(end === -1 ? victims.length : end, maximumRows)).map(({ key }) => key);
}

function keysByName(all: readonly { name: string; keys: readonly string[] }[]): Map<string, Set<string>> {
  const byName = new Map<string, Set<string>>();
  for (const { name, keys } of all) if (keys.length > 0) byName.set(name, new Set([...(byName.get(name) ?? []), ...keys]));
  return byName;
}
