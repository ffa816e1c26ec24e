/**
 * Adds up for each user what its requests cost others: time of the event loop, bytes that the service writes, and bytes that it answers (decision 315). Each is a
 * resource with a capacity, and its costs are counted in milliseconds of that capacity.
 *
 * Time is cut into windows. A user is active in a window if it took at least a hundredth of the resource. In a window a resource is
 * - contended, if at least nine tenths of its capacity were used in the window before, by two active users or more. A share is what each of them would have
 *   had in that window, if all had had the same.
 * - free otherwise. Costs are no debt then.
 *
 * The debt of a user grows by its costs while the resource is contended, and falls by a share in each window. It falls by all of the capacity while the
 * resource is free, and to nothing in a window with fewer than two active users. So a user who takes no more than others has none, and neither has one who is alone.
 *
 * A user is within its share up to a debt of two seconds, and over it above that. Each of its requests then waits until its debt has fallen, and is refused with
 * 429 after two seconds. A debt ends at three seconds, so that a user waits for one second at most while there is enough for all.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import type { CostKind } from '../network/origin.ts';
import { measureLoop } from './event-loop.ts';
import { scheduleTimeout, type Schedule } from './queue.ts';
import { rateLimitProblem, refuseInTurn } from './refusals.ts';

/** One second of each resource: milliseconds of the event loop, and bytes, about as many as a small server can write and send. */
const capacities: Record<CostKind, number> = { loop: 1_000, written: 32 * 2 ** 20, answered: 128 * 2 ** 20 };
const resources = Object.keys(capacities) as CostKind[];

const windowMs = 250;
/** Parts of a capacity: in use from which a resource is contended, and of a user from which it is active. */
const parts = { contended: 0.9, active: 0.01 };
/** Debts in milliseconds: the highest of a user within its share, and the highest at all, which limits how long a user pays. */
const debtsMs = { tolerated: 2_000, maximum: 3_000 };
/** Milliseconds: the longest wait of a request, and the interval in which the debt is compared meanwhile. */
const waitsMs = { longest: 2_000, interval: 100 };
/** A user over its share with more waiting requests is refused at once. */
const maximumWaiting = 64;
/** The user without a request for the longest time is forgotten beyond this number. */
const maximumUsers = 4_096;

type Amounts = Record<CostKind, number>;

const nothing = (): Amounts => ({ loop: 0, written: 0, answered: 0 });

interface Entry {
  /** All costs since the entry was made: milliseconds of the event loop, and bytes. */
  readonly total: Amounts;
  /** In milliseconds, as it was when the relief of all users was `relief`. */
  readonly debt: Amounts;
  readonly relief: Amounts;
  /** The number of its requests that wait. */
  waiting: number;
}

/** A request of a user over its share. */
interface Waiter {
  entry: Entry;
  end: number;
  resolve: () => void;
  /** Called with the seconds after which the user may come back. */
  refuse: (seconds: number) => void;
}

export interface LedgerOptions {
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
  /** The part of the time since the call before for which the event loop was busy, 0 to 1. */
  utilization?: () => number;
  schedule?: Schedule;
  /** Whether users over their share wait and are refused. Costs are added up in any case. */
  isEnforced?: boolean;
}

export class Ledger {
  readonly #now: () => number;
  readonly #utilization: () => number;
  readonly #schedule: Schedule;
  readonly #isEnforced: boolean;
  readonly #entries = new LRUCache<string, Entry>({ max: maximumUsers });
  /** The present window: its begin, and the milliseconds of each resource that each user took. */
  #began: number;
  #taken = new Map<string, Amounts>();
  #used = nothing();
  /** Milliseconds a second of each contended resource that a user has; undefined for a free one. */
  #shares: Partial<Amounts> = {};
  readonly #waiters = new Set<Waiter>();
  /** By how much debts have fallen since the start of the process, in milliseconds. */
  readonly #relief = nothing();
  /** All costs since the start of the process: milliseconds of the event loop, and bytes. */
  readonly totals = nothing();
  /** The number of requests refused because their users were over their shares. */
  refused = 0;

  constructor({
    now = () => performance.now(),
    utilization = measureLoop(),
    schedule = scheduleTimeout,
    isEnforced = true,
  }: LedgerOptions = {}) {
    this.#now = now;
    this.#utilization = utilization;
    this.#schedule = schedule;
    this.#isEnforced = isEnforced;
    this.#began = now();
  }

  /** The number of users that it has, 4,096 at most. */
  get size(): number {
    return this.#entries.size;
  }

  /** The number of requests that wait because their users are over their shares. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** All costs of the user; undefined for one without requests, or whose were too long ago. */
  costsOf(user: string): Readonly<Amounts> | undefined {
    return this.#entries.peek(user)?.total;
  }

  /** The milliseconds of the resource that the user has taken beyond its shares. */
  debtOf(user: string, resource: CostKind): number {
    this.#turnWindow();
    const entry = this.#entries.peek(user);
    return entry ? this.#settled(entry, resource) : 0;
  }

  /** Adds a cost of the user: milliseconds of the event loop, or bytes. */
  add(user: string, resource: CostKind, amount: number): void {
    this.#turnWindow();
    const entry = this.#entryOf(user);
    const ms = (amount / capacities[resource]) * 1_000;
    entry.total[resource] += amount;
    this.totals[resource] += amount;
    this.#used[resource] += ms;
    this.#takenBy(user)[resource] += ms;
    if (this.#shares[resource] === undefined) return;
    entry.debt[resource] = Math.min(debtsMs.maximum, this.#settled(entry, resource) + ms);
    entry.relief[resource] = this.#relief[resource];
  }

  /** Runs `work` and adds the time until it returns. */
  time<T>(user: string, work: () => T): T {
    const began = performance.now();
    try {
      return work();
    } finally {
      this.add(user, 'loop', performance.now() - began);
    }
  }

  /**
   * Admits a request of the user. Undefined if it may go on at once. Otherwise it waits until the user is within its share, for two seconds at most. Throws 429
   * with the limit `share` after that, or at once while 64 requests of the user wait.
   */
  admit(user: string): Promise<void> | undefined {
    return this.#wait(user)?.then((seconds) => {
      if (seconds === 0) return;
      this.refused += 1;
      const later = Math.min(60, Math.max(1, Math.ceil(seconds)));
      throw rateLimitProblem('share', `q=${debtsMs.tolerated};w=${waitsMs.longest / 1_000}`, later);
    });
  }

  /** Waits likewise before a part of a long body or answer, which goes on after two seconds. */
  async slowDown(user: string): Promise<void> {
    await this.#wait(user);
  }

  /** Undefined for a user within its share. Otherwise 0 once it is, or the seconds after which it may come back. */
  #wait(user: string): Promise<number> | undefined {
    this.#turnWindow();
    const entry = this.#entries.get(user);
    if (!entry || !this.#isEnforced) return undefined;
    const seconds = this.#excessSeconds(entry);
    if (seconds <= 0) return undefined;
    if (entry.waiting >= maximumWaiting) return Promise.resolve(seconds);
    entry.waiting += 1;
    return new Promise((resolve) => {
      const end = this.#now() + waitsMs.longest;
      const refuse = (later: number) => refuseInTurn(() => resolve(later));
      this.#waiters.add({ entry, end, resolve: () => resolve(0), refuse });
      if (this.#waiters.size === 1) this.#schedule(waitsMs.interval, () => this.#admitWaiters());
    });
  }

  /** Ends the waits that are over, and comes again while there are others. */
  #admitWaiters(): void {
    this.#turnWindow();
    for (const waiter of this.#waiters) {
      const seconds = this.#excessSeconds(waiter.entry);
      if (seconds > 0 && this.#now() < waiter.end) continue;
      this.#waiters.delete(waiter);
      waiter.entry.waiting -= 1;
      if (seconds > 0) waiter.refuse(seconds);
      else waiter.resolve();
    }
    if (this.#waiters.size > 0) this.#schedule(waitsMs.interval, () => this.#admitWaiters());
  }

  /** For how long the user has to take nothing until it is within its share; 0 or less if it is. */
  #excessSeconds(entry: Entry): number {
    return Math.max(
      ...resources.map((resource) => (this.#settled(entry, resource) - debtsMs.tolerated) / (this.#shares[resource] ?? 1_000)),
    );
  }

  #settled({ debt, relief }: Entry, resource: CostKind): number {
    return Math.max(0, debt[resource] - (this.#relief[resource] - relief[resource]));
  }

  #entryOf(user: string): Entry {
    const known = this.#entries.get(user);
    if (known) return known;
    const entry = { total: nothing(), debt: nothing(), relief: { ...this.#relief }, waiting: 0 };
    this.#entries.set(user, entry);
    return entry;
  }

  #takenBy(user: string): Amounts {
    const known = this.#taken.get(user);
    if (known) return known;
    const taken = nothing();
    this.#taken.set(user, taken);
    return taken;
  }

  /** Begins a new window if the present one is over, with the shares that follow from it. */
  #turnWindow(): void {
    const now = this.#now();
    const elapsed = now - this.#began;
    if (elapsed < windowMs) return;
    const busy = this.#utilization();
    this.#shares = {};
    for (const resource of resources) {
      const part = resource === 'loop' ? busy : this.#used[resource] / elapsed;
      const taken = [...this.#taken.values()].map((amounts) => amounts[resource]).filter((ms) => ms >= parts.active * elapsed);
      const share = taken.reduce((sum, ms) => sum + ms, 0) / taken.length;
      const isContended = part >= parts.contended && taken.length > 1;
      if (isContended) this.#shares[resource] = (share / elapsed) * 1_000;
      this.#relief[resource] += isContended ? share : taken.length > 1 ? elapsed : debtsMs.maximum;
    }
    this.#began = now;
    this.#taken = new Map();
    this.#used = nothing();
  }
}
