/** Drops what changes of types leave behind, in the background of a process. */
import { theService } from '../audit/actor.ts';
import { isOutage } from '../database/failure.ts';
import type { Store } from '../database/port.ts';
import { Problem } from '../problems/errors.ts';
import { settleType } from './apply.ts';
import { dropLeftovers } from './leftovers.ts';
import { isSettled } from './companion-build.ts';
import { findStoredType } from './store.ts';

/** The pause after which types are tried again whose tables other transactions use. */
const retryPauseMs = 5_000;

export class LeftoverQueue {
  readonly #store: Store;
  readonly #onFailure: (name: string, error: unknown) => void;
  readonly #due = new Set<string>();
  /** The names whose tables other transactions use. */
  readonly #heldUp = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isClosed = false;

  /**
   * `onFailure` receives an error that would come again, such as that of a table that belongs to another role. The name then waits until it is added again.
   */
  constructor(store: Store, onFailure: (name: string, error: unknown) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
  }

  /** Has the leftovers of the types dropped, one type at a time. The queue tries again every five seconds for what other transactions use. */
  add(names: readonly string[]): void {
    for (const name of names) this.#due.add(name);
    void this.#run();
  }

  /** Begins nothing more. A statement under way ends within a second, or with the connections of the store. The housekeeping of another process goes on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Does not reject. */
  async #run(): Promise<void> {
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    for (const name of this.#due) {
      this.#due.delete(name);
      this.#heldUp.add(name);
      if (await this.#isDone(name)) this.#heldUp.delete(name);
      if (this.#isClosed) return;
    }
    this.#isRunning = false;
    clearTimeout(this.#timer);
    if (this.#heldUp.size > 0) this.#timer = setTimeout(() => this.add([...this.#heldUp]), retryPauseMs).unref();
  }

  /** Whether nothing is left, or a further attempt would fail too. */
  async #isDone(name: string): Promise<boolean> {
    try {
      const stored = await findStoredType(this.#store.db, name);
      // A type to which no other refers any more loses its table of keys.
      if (isSettled(stored)) await settleType(this.#store, theService, name, { waitMs: 0, onLeftover: () => undefined });
      return await dropLeftovers(this.#store, name);
    } catch (error) {
      if (isOutage(error) || (error instanceof Problem && error.status === 503)) return false;
      if (!this.#isClosed) this.#onFailure(name, error);
      return true;
    }
  }
}
