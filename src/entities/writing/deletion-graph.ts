/**
 * The entities that the deletion of one concerns, as far as its references have been followed: those that go with it, and those that lose a reference. An
 * entity that refers to another has to go, or to lose the reference, in the same transaction or in an earlier one.
 */
import type { Kysely } from 'kysely';
import type { CompanionReference } from '../companion/layout.ts';
import type { Database } from '../../database/tables.ts';
import { componentsOf } from './components.ts';
import type { Referrer } from './referrers.ts';
import { referredRows, referringRows, type Deleted } from './removal-statements.ts';

/** An entity that is deleted, or loses one reference. */
export interface Affected {
  readonly name: string;
  readonly key: string;
  readonly type: Deleted;
  /** Undefined if the entity is deleted. */
  readonly cleared: { referrer: Referrer; reference: CompanionReference } | undefined;
  /** Those that refer to the entity. */
  readonly followers: Set<Affected>;
  /** Whether more may refer to the entity. */
  isOpen: boolean;
}

export interface DeletionScope {
  root: Deleted & { key: string };
  /** The types of what refers to the root and to the entities that are deleted along with it. */
  along: ReadonlyMap<string, readonly Referrer[]>;
  /** By name, the keys of entities that other deletions of the transaction delete. */
  going: ReadonlyMap<string, ReadonlySet<string>>;
  /** The most entities whose references are followed at once, and the most that are found by one statement. */
  step: number;
  /** After this number of entities no further ones are searched for. */
  maximum: number;
}

export class DeletionGraph {
  readonly #db: Kysely<Database>;
  readonly #scope: DeletionScope;
  /** All that were found, the root first. */
  readonly affected: Affected[] = [];
  readonly root: Affected;
  /** By name and key. */
  readonly #deleted = new Map<string, Map<string, Affected>>();
  /** By the name of the foreign key, and by key. */
  readonly #cleared = new Map<string, Map<string, Affected>>();
  readonly #open: Affected[] = [];
  #isNewestFirst = true;
  /** Entities that may not lose their reference, and do not go along. */
  readonly restricting: { name: string; keys: string[] }[] = [];

  constructor(db: Kysely<Database>, scope: DeletionScope) {
    this.#db = db;
    this.#scope = scope;
    this.root = this.#deletedOne(scope.root.name, scope.root, scope.root.key);
  }

  /** Whether there may be more to find, and the maximum is not reached. */
  get hasMore(): boolean {
    return this.#open.length > 0 && this.affected.length <= this.#scope.maximum;
  }

  /** Follows the references to the entities that were found last. */
  async follow(): Promise<void> {
    const batch = this.#open.splice(-this.#scope.step);
    for (const [name, targets] of Map.groupBy(batch, (target) => target.name)) {
      let isCut = false;
      for (const referrer of this.#scope.along.get(name) ?? [])
        for (const reference of referrer.references) isCut = (await this.#find(referrer, reference, targets)) || isCut;
      for (const target of targets) target.isOpen = isCut;
      if (isCut) this.#open.unshift(...targets);
    }
  }

  /**
   * Sets of entities that go or change together, each behind those that refer to it. `closed` are those to which nothing else refers, and `all` has those
   * too of which this is not known yet.
   */
  components(): { all: Affected[][]; closed: Affected[][] } {
    const all = componentsOf(this.affected);
    const inClosed = new Set<Affected>();
    const closed = all.filter((component) => {
      const members = new Set(component);
      const isClosed = component.every(
        ({ isOpen, followers }) => !isOpen && [...followers].every((each) => inClosed.has(each) || members.has(each)),
      );
      if (isClosed) for (const member of component) inClosed.add(member);
      return isClosed;
    });
    return { all, closed };
  }

  /** Finds what refers to the targets in one field. Returns whether there is more. */
  async #find(referrer: Referrer, reference: CompanionReference, targets: readonly Affected[]): Promise<boolean> {
    const { step, maximum, going } = this.#scope;
    if (this.affected.length > maximum) return true;
    const { name, companion } = referrer;
    const [deleted, cleared] = [groupOf(this.#deleted, name), groupOf(this.#cleared, reference.name)];
    const byKey = new Map(targets.map((target) => [target.key, target]));
    const { rows } = await referringRows(companion, reference, {
      targets: [...byKey.keys()],
      known: [...deleted.keys(), ...cleared.keys()],
      except: [...(going.get(name) ?? [])],
      limit: step,
      order: this.#isNewestFirst ? 'newest' : 'oldest',
    }).execute(this.#db);
    const fresh = rows.map(({ key }) => key).filter((key) => !deleted.has(key) && !cleared.has(key));
    const along = reference.onDelete === 'cascade' ? new Set(fresh) : await this.#going(name, fresh);
    const restricting = reference.onDelete === 'restrict' ? fresh.filter((key) => !along.has(key)) : [];
    if (restricting.length > 0) this.restricting.push({ name, keys: restricting });
    for (const { key, target } of rows) {
      const follower =
        deleted.get(key) ??
        cleared.get(key) ??
        (along.has(key) ? this.#deletedOne(name, referrer, key) : this.#clearedOne(referrer, reference, key));
      if (follower) byKey.get(target)?.followers.add(follower);
    }
    // A deletion that is restricted anyway needs no more of them.
    const isCut = fresh.length >= step && restricting.length === 0;
    if (isCut) this.#isNewestFirst = !this.#isNewestFirst;
    return isCut;
  }

  /** Those of the entities that go with the root: their references with cascade lead to it. */
  async #going(name: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
    const known = this.#deleted.get(name);
    const found = new Set(keys.filter((key) => known?.has(key)));
    for (const [to, referrers] of this.#scope.along) {
      const rest = keys.filter((key) => !found.has(key));
      if (rest.length === 0) return found;
      const rows = [];
      for (const { companion, references } of referrers.filter((referrer) => referrer.name === name))
        for (const reference of references.filter(({ onDelete }) => onDelete === 'cascade'))
          rows.push(...(await referredRows(companion, reference, rest).execute(this.#db)).rows);
      if (rows.length === 0) continue;
      // Once for all references to the name: the number of statements does not grow with their power.
      const along = await this.#going(to, [...new Set(rows.map(({ target }) => target))]);
      for (const { key, target } of rows) if (along.has(target)) found.add(key);
    }
    return found;
  }

  #deletedOne(name: string, { companion, trashKeep }: Deleted, key: string): Affected {
    const one: Affected = { name, key, type: { name, companion, trashKeep }, cleared: undefined, followers: new Set(), isOpen: true };
    groupOf(this.#deleted, name).set(key, one);
    this.affected.push(one);
    this.#open.push(one);
    return one;
  }

  #clearedOne(referrer: Referrer, reference: CompanionReference, key: string): Affected | undefined {
    if (reference.onDelete === 'restrict') return undefined;
    const one = {
      name: referrer.name,
      key,
      type: referrer,
      cleared: { referrer, reference },
      followers: new Set<Affected>(),
      isOpen: false,
    };
    groupOf(this.#cleared, reference.name).set(key, one);
    this.affected.push(one);
    return one;
  }
}

function groupOf(groups: Map<string, Map<string, Affected>>, name: string): Map<string, Affected> {
  const group = groups.get(name) ?? new Map<string, Affected>();
  groups.set(name, group);
  return group;
}
