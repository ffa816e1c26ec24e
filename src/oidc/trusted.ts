/** The issuers whose tokens count, each with its keys. What is not in here is never contacted (security rule 46). */
import { IssuerKeys } from './issuer-keys.ts';
import type { Issuer } from './issuers.ts';

/** What time it is. Tests bring their own, to move it. */
export interface Clock {
  /** Milliseconds since 1970, as tokens count. */
  wall: () => number;
  /** Milliseconds that never go back, to measure how long something has been. */
  steady: () => number;
}

export const systemClock: Clock = { wall: () => Date.now(), steady: () => performance.now() };

export interface TrustedIssuer extends Issuer {
  keys: IssuerKeys;
}

export class TrustedIssuers {
  readonly clock: Clock;
  readonly #byIssuer = new Map<string, TrustedIssuer>();
  readonly #byId = new Map<string, TrustedIssuer>();

  /** `onError` hears why an issuer could not be asked for its keys. */
  constructor(issuers: readonly Issuer[], onError: (error: unknown, issuerId: string) => void, clock = systemClock) {
    this.clock = clock;
    for (const issuer of issuers) {
      const keys = new IssuerKeys(issuer, { now: clock.steady, onError: (error) => onError(error, issuer.id) });
      const trusted = { ...issuer, keys };
      this.#byId.set(issuer.id, trusted);
      this.#byIssuer.set(issuer.issuer, trusted);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The issuer with exactly this `iss`. */
  find(iss: string): TrustedIssuer | undefined {
    return this.#byIssuer.get(iss);
  }

  /** The issuer that a caller names by its id or by its exact `iss`. */
  findNamed(name: string): TrustedIssuer | undefined {
    return this.#byId.get(name) ?? this.#byIssuer.get(name);
  }
}
