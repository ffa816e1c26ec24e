/**
 * Deletes an entity to which others refer. Their types declare in `onDelete` what happens to them: they keep the entity from being deleted,
 * are deleted too, or lose the reference. All of it is one transaction, and PostgreSQL refuses to commit a reference to no entity.
 */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';
import type { EntityTypes } from '../../entity-types/types.ts';
import { inRounds } from './rounds.ts';
import type { ChangeValues } from './changed.ts';
import { clearVictims, deleteVictims, type Victim } from './consequences.ts';
import { DeletionGraph, type Affected } from './deletion-graph.ts';
import { referrersAlong } from './referrers.ts';
import { lockEntities, lockRows, type Deleted } from './removal-statements.ts';
import { keysByName, maximumVictims, StillReferencedError } from './still-referenced.ts';

/** A portion is chosen among this number of times as many entities as it may have. */
const portionsSearched = 10;

export interface RemovalOptions {
  /** By name, the keys of entities that other deletions of the transaction delete. */
  going?: ReadonlyMap<string, ReadonlySet<string>>;
  /** The most entities that are deleted or changed besides the one that was to be deleted. */
  limit?: number;
}

export interface PortionDone {
  /** The number of entities that were deleted or changed. */
  count: number;
  /** Whether the rest, with the entity itself, can be deleted at once. */
  isLast: boolean;
}

/** One deletion with its consequences, in the transaction `trx`, which keeps the types as they are. */
export class Removal {
  readonly #trx: Kysely<Database>;
  readonly #types: EntityTypes;
  readonly #change: ChangeValues;
  readonly #going: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #limit: number;
  /** By what happens to it, the bytes of the fields of each locked entity as JSON; 0 for one that was gone. */
  readonly #locked = new Map<string, number>();

  constructor(
    trx: Kysely<Database>,
    types: EntityTypes,
    change: ChangeValues,
    { going = new Map(), limit = maximumVictims }: RemovalOptions = {},
  ) {
    this.#trx = trx;
    this.#types = types;
    this.#change = change;
    this.#going = going;
    this.#limit = limit;
  }

  /**
   * Deletes the entity with this key, which the caller has locked. Throws a {@link StillReferencedError} if entities keep it from being deleted, or
   * if more than 1,000 would be deleted or changed. With `checksLater` the caller lets PostgreSQL check the references.
   */
  async run(deleted: Deleted, key: string, { checksLater = false } = {}): Promise<void> {
    await this.#carryOut(await this.#locking(deleted, key, this.#limit + 1, (graph) => this.#whole(graph)));
    if (!checksLater) await sql`set constraints all immediate`.execute(this.#trx);
  }

  /**
   * Deletes or changes at most 1,000 of the entities that go or change with the one with this key, which the caller has locked. It never changes that one, or
   * one that goes with it. Throws a {@link StillReferencedError} if entities restrict the deletion, or if more than 1,000 would have to go at once.
   */
  async runPortion(deleted: Deleted, key: string): Promise<PortionDone> {
    const maximum = portionsSearched * (this.#limit + 1);
    const portion = await this.#locking(deleted, key, maximum, (graph) => this.#portion(graph));
    await this.#carryOut(portion);
    await sql`set constraints all immediate`.execute(this.#trx);
    return { count: portion.length, isLast: portion.length === 0 };
  }

  /** The result of `choose` once all of it is locked. A lost round means that other transactions have added references meanwhile. */
  async #locking(
    deleted: Deleted,
    key: string,
    maximum: number,
    choose: (graph: DeletionGraph) => Promise<Affected[]>,
  ): Promise<Affected[]> {
    const along = await referrersAlong(this.#trx, deleted.name);
    this.#locked.set(idOf({ name: deleted.name, key, cleared: undefined }), 0);
    await lockRows(deleted.companion, [key]).execute(this.#trx);
    return await inRounds(async () => {
      const root = { ...deleted, key };
      const chosen = await choose(new DeletionGraph(this.#trx, { root, along, going: this.#going, step: this.#limit + 1, maximum }));
      const others = chosen.filter((each) => !this.#locked.has(idOf(each)));
      if (others.length === 0) return chosen;
      await this.#lock(others);
      return undefined;
    });
  }

  async #whole(graph: DeletionGraph): Promise<Affected[]> {
    while (graph.hasMore) await graph.follow();
    const { affected } = graph;
    if (affected.length - 1 > this.#limit) throw tooMany(affected.filter((each) => each !== graph.root));
    refuseRestricting(graph);
    return affected;
  }

  /** Sets that can go without the rest, up to the limit; nothing if the rest is within it too. */
  async #portion(graph: DeletionGraph): Promise<Affected[]> {
    for (;;) {
      await graph.follow();
      refuseRestricting(graph);
      const { all, closed } = graph.components();
      refuseLarge(graph, all, this.#limit);
      if (graph.hasMore && closed.flat().length < this.#limit) continue;
      if (closed.at(-1)?.includes(graph.root) === true && !isTooLarge(closed.flat(), graph, this.#limit)) return [];
      const portion: Affected[] = [];
      for (const set of closed) {
        if (set.includes(graph.root) || portion.length + set.length > this.#limit) break;
        portion.push(...set);
      }
      if (portion.length === 0) throw tooMany(graph.affected.slice(1, this.#limit + 2));
      return portion;
    }
  }

  async #lock(affected: readonly Affected[]): Promise<void> {
    for (const [name, group] of Map.groupBy(affected, (each) => each.name)) {
      const keys = new Set(group.map(({ key }) => key));
      const { rows } = await lockEntities(name, [...keys]).execute(this.#trx);
      const bytes = new Map(rows.map((row) => [row.key, row.bytes]));
      for (const each of group) this.#locked.set(idOf(each), bytes.get(each.key) ?? 0);
      const deleted = group.filter(({ cleared }) => !cleared);
      const [first] = deleted;
      if (first) await lockRows(first.type.companion, keysOf(deleted)).execute(this.#trx);
    }
  }

  async #carryOut(affected: readonly Affected[]): Promise<void> {
    await sql`set constraints all deferred`.execute(this.#trx);
    for (const group of Map.groupBy(affected, ({ cleared }) => cleared?.reference).values()) {
      const [first] = group;
      if (first?.cleared) await clearVictims(this.#trx, this.#types, { ...first.cleared, victims: this.#victims(group) }, this.#change);
    }
    const deleted = affected.filter(({ cleared }) => !cleared);
    for (const group of [...Map.groupBy(deleted, ({ name }) => name).values()].toReversed()) {
      const [first] = group;
      if (first) await deleteVictims(this.#trx, first.type, this.#victims(group), this.#change);
    }
  }

  #victims(affected: readonly Affected[]): Victim[] {
    return affected.map((each) => ({ key: each.key, bytes: this.#locked.get(idOf(each)) ?? 0 }));
  }
}

/**
 * Throws a {@link StillReferencedError} if more than 1,000 of the first 10,000 entities that the deletion concerns only go together, so that no portion can
 * have them.
 */
export async function refuseLargeSets(db: Kysely<Database>, deleted: Deleted, key: string): Promise<void> {
  const along = await referrersAlong(db, deleted.name);
  const scope = { root: { ...deleted, key }, along, going: new Map<string, ReadonlySet<string>>(), step: maximumVictims + 1 };
  const graph = new DeletionGraph(db, { ...scope, maximum: portionsSearched * scope.step });
  while (graph.hasMore) await graph.follow();
  refuseLarge(graph, graph.components().all, maximumVictims);
}

const isTooLarge = (set: readonly Affected[], { root }: DeletionGraph, limit: number) => set.length - (set.includes(root) ? 1 : 0) > limit;

function refuseLarge(graph: DeletionGraph, sets: readonly Affected[][], limit: number): void {
  const large = sets.find((set) => isTooLarge(set, graph, limit));
  if (large) throw tooMany(large.slice(0, limit + 1));
}

const idOf = ({ name, key, cleared }: Pick<Affected, 'name' | 'key' | 'cleared'>) => `${name} ${key} ${cleared?.reference.name ?? ''}`;

const keysOf = (affected: readonly Affected[]) => affected.map(({ key }) => key);

function tooMany(affected: readonly Affected[]): StillReferencedError {
  const groups = [...Map.groupBy(affected, ({ name }) => name)];
  return new StillReferencedError(keysByName(groups.map(([name, group]) => ({ name, keys: keysOf(group) }))), 'too many');
}

function refuseRestricting({ restricting }: DeletionGraph): void {
  if (restricting.length > 0) throw new StillReferencedError(keysByName(restricting), 'restrict');
}
