/**
 * Caches recently verified credentials, so that a request in a burst needs no statement for authentication (decision 12). Number and age of
 * the entries are bounded. Every change in this process, and by notifications of the database every change in other processes, removes
 * entries at once. Without the connection for notifications the cache is off: every lookup misses.
 */
import { LRUCache } from 'lru-cache';
import type { Principal } from '../rights/principal.ts';

const maximumEntries = 10_000;
const maximumAgeMs = 3_000;

interface CachedPrincipal {
  principal: Principal;
  /** `session <id>` or `key <id>`, as the notification names it. */
  subject: string;
  /** In milliseconds of the monotonic clock. */
  until: number;
}

/** The state of the cache when a verifying statement is sent. */
export interface VerificationStart {
  /** The number of changes of rights that this process had received. */
  generation: number;
  /** In milliseconds of the monotonic clock. */
  at: number;
}

export class PrincipalCache {
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, CachedPrincipal>({
    max: maximumEntries,
    dispose: ({ subject }, hash) => this.#unlink(subject, hash),
  });
  /** The credentials (hashes) of each subject that have an entry: a session has a second one for ten seconds after a refresh. */
  readonly #hashes = new Map<string, Set<string>>();
  #enabled = false;
  #generation = 0;
  /** The number of lookups that found a principal, and of those that did not, since the start of the process. */
  hits = 0;
  misses = 0;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Call it before the verifying statement is sent, for {@link store}. */
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
   * Stores a verified principal for three seconds from the start of its verification, or for `lifeMs` if that is shorter: the
   * remaining life of the session, key or token. Does nothing if rights have changed since.
   */
  store(hash: string, subject: string, principal: Principal, lifeMs: number, { generation, at }: VerificationStart): void {
    if (!this.#enabled || generation !== this.#generation) return;
    this.#entries.set(hash, { principal, subject, until: at + Math.min(maximumAgeMs, lifeMs) });
    const hashes = this.#hashes.get(subject);
    if (hashes) hashes.add(hash);
    else this.#hashes.set(subject, new Set([hash]));
  }

  /** Removes the entries that a notification names: `session <id>`, `key <id>`, or all entries for `user <id>` and `all`. */
  forget(notice: string): void {
    this.#generation++;
    if (!notice.startsWith('session ') && !notice.startsWith('key ')) this.#entries.clear();
    else for (const hash of this.#hashes.get(notice) ?? []) this.#entries.delete(hash);
  }

  /** `on` says whether notifications arrive. Without them the cache is empty and off. */
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
