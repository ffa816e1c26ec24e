/** Bounds how many exports or imports run at once. None waits for a place: a client can come back, and an upload should not begin in vain. */
import { Problem } from '../problems/errors.ts';
import { busyProblem } from '../admission/queue.ts';

export interface PlacesLimits {
  user: number;
  process: number;
}

export class Places {
  /** As in `RateLimit-Policy`. */
  readonly #name: string;
  readonly #limits: PlacesLimits;
  readonly #byUser = new Map<string, number>();
  #taken = 0;
  /** Whether a user was refused because all places were taken, and none has become free since. */
  isWanted = false;

  constructor(name: string, limits: PlacesLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  /** Takes a place, and returns the function that gives it back. Throws 429 when the user has no place left, 503 when the process has none. */
  take(userName: string): () => void {
    const ofUser = this.#byUser.get(userName) ?? 0;
    if (ofUser >= this.#limits.user) throw this.#tooMany();
    if (this.#taken >= this.#limits.process) {
      this.isWanted = true;
      throw busyProblem();
    }
    this.#byUser.set(userName, ofUser + 1);
    this.#taken += 1;
    return () => {
      const left = (this.#byUser.get(userName) ?? 1) - 1;
      if (left > 0) this.#byUser.set(userName, left);
      else this.#byUser.delete(userName);
      this.#taken -= 1;
      this.isWanted = false;
    };
  }

  #tooMany(): Problem {
    const policy = `"${this.#name}";q=${this.#limits.user};qu="concurrent-requests"`;
    return new Problem('rate-limited', {
      values: { seconds: 5 },
      headers: { 'Retry-After': '5', 'RateLimit-Policy': policy, RateLimit: `"${this.#name}";r=0;t=5` },
      audit: { limit: this.#name },
    });
  }
}
