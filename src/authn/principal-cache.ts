/**
 * Recently verified credentials, so that a request in a burst costs no statement to authenticate (decision 12). Bounded in number
 * and age, told at once of every change in this process, told by the database's notifications of every change in others, and switched
 * off while that line is down: then every lookup misses.
 */
import { LRUCache } from 'lru-cache';
import type { Principal } from './principal.ts';

const maximumEntries = 10_000;
const maximumAgeMilliseconds = 3_000;

interface Entry {
  principal: Principal;
  /** `session <id>` or `key <id>`, as the notification names it. */
  subject: string;
  /** In milliseconds of the monotonic clock. */
  until: number;
}

/** What was known when a verifying statement was sent. */
export interface VerificationStart {
  /** How many changes of rights this process had heard of. */
  generation: number;
  /** In milliseconds of the monotonic clock. */
  at: number;
}

export class PrincipalCache {
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: maximumEntries, dispose: ({ subject }, hash) => this.#unlink(subject, hash) });
  /** The credentials (hashes) of each subject that have an entry: a session has a second one for ten seconds after a refresh. */
  readonly #hashes = new Map<string, Set<string>>();
  #enabled = false;
  #generation = 0;
  /** How many lookups have found a principal, and how many have not, since the process began. */
  hits = 0;
  misses = 0;

  /** `now` gives milliseconds that never go back. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Call it before the verifying statement is sent, for {@link keep}. */
  startVerification(): VerificationStart {
    return { generation: this.#generation, at: this.#now() };
  }

  /** The principal verified for this credential hash (hex) within the last three seconds, or undefined. */
  find(hash: string): Principal | undefined {
    const entry = this.#entries.get(hash);
    if (entry && entry.until > this.#now()) {
      this.hits += 1;
      return entry.principal;
    }
    this.misses += 1;
    if (entry) this.#entries.delete(hash);
    return undefined;
  }

  /**
   * Keeps a verified principal until three seconds after its verification began, or until `lifeMilliseconds` (what is left of the session, key
   * or token) after that. Does nothing when rights have changed since.
   */
  keep(hash: string, subject: string, principal: Principal, lifeMilliseconds: number, { generation, at }: VerificationStart): void {
    if (!this.#enabled || generation !== this.#generation) return;
    this.#entries.set(hash, { principal, subject, until: at + Math.min(maximumAgeMilliseconds, lifeMilliseconds) });
    const hashes = this.#hashes.get(subject);
    if (hashes) hashes.add(hash);
    else this.#hashes.set(subject, new Set([hash]));
  }

  /** Forgets what a notification names: `session <id>`, `key <id>`, or everything for `user <id>` and `all`. */
  forget(notice: string): void {
    this.#generation++;
    if (!notice.startsWith('session ') && !notice.startsWith('key ')) {
      this.#entries.clear();
      return;
    }
    for (const hash of this.#hashes.get(notice) ?? []) this.#entries.delete(hash);
  }

  /** Whether notifications arrive. Off forgets everything. */
  enable(on: boolean): void {
    this.#enabled = on;
    this.forget('all');
  }

  /** Called for each entry that leaves the cache, also when the cache is full or another entry replaces it. */
  #unlink(subject: string, hash: string): void {
    const hashes = this.#hashes.get(subject);
    hashes?.delete(hash);
    if (hashes?.size === 0) this.#hashes.delete(subject);
  }
}
