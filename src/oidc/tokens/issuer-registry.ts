/** The issuers whose tokens count, each with its keys, and with its endpoints where users sign in. What is not in here is never contacted (security rule 46). */
import type { Configuration } from 'openid-client';
import { discoverProvider } from './discover.ts';
import { CachedMetadata, type CachedMetadataOptions } from './cached-metadata.ts';
import { Introspection } from './introspection.ts';
import { IssuerKeys } from './keys.ts';
import type { Issuer } from '../issuers-file/read.ts';

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
  /** For opaque tokens; undefined for an issuer that signs its tokens. */
  introspection: Introspection | undefined;
  /** Its endpoints, and this service as its client. */
  provider: CachedMetadata<Configuration>;
}

/** An issuer that this service is a client of, so that users can sign in there. */
export interface Provider extends TrustedIssuer {
  clientId: string;
}

export class IssuerRegistry {
  readonly clock: Clock;
  readonly #byIssuer = new Map<string, TrustedIssuer>();
  readonly #byId = new Map<string, TrustedIssuer>();
  readonly #answering = new Map<string, boolean>();

  /** `onError` hears why an issuer could not be asked. `isOurs` tells texts that are shown to no issuer, as {@link Introspection} has it. */
  constructor(
    issuers: readonly Issuer[],
    onError: (error: unknown, issuerId: string) => void,
    isOurs: (text: string) => Promise<boolean>,
    clock = systemClock,
  ) {
    this.clock = clock;
    for (const issuer of issuers) {
      const options: CachedMetadataOptions = {
        now: clock.steady,
        onAnswer: () => this.#answering.set(issuer.id, true),
        onError: (error) => {
          this.#answering.set(issuer.id, false);
          onError(error, issuer.id);
        },
      };
      const keys = new IssuerKeys(issuer, options);
      const provider = new CachedMetadata(() => discoverProvider(issuer), `${issuer.issuer} does not say where to sign in`, options);
      const introspection = issuer.tokenType === 'opaque' ? new Introspection(issuer, options, isOurs) : undefined;
      const trusted = { ...issuer, keys, provider, introspection };
      this.#byId.set(issuer.id, trusted);
      this.#byIssuer.set(issuer.issuer, trusted);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Whether they answered when they were asked last, by id; without those that have not been asked yet. */
  get answering(): ReadonlyMap<string, boolean> {
    return this.#answering;
  }

  /** In the order of the file. */
  get all(): TrustedIssuer[] {
    return [...this.#byId.values()];
  }

  /** The issuers that users can sign in at, in the order of the file. */
  get providers(): Provider[] {
    return this.all.filter(isProvider);
  }

  /** The one with this id that users can sign in at. */
  findProvider(id: string): Provider | undefined {
    const issuer = this.#byId.get(id);
    return issuer && isProvider(issuer) ? issuer : undefined;
  }

  /** The issuer with exactly this `iss`. */
  find(iss: string): TrustedIssuer | undefined {
    return this.#byIssuer.get(iss);
  }

  /** The only issuer of opaque tokens; undefined when there are several, since a token that names none must not be shown to all. */
  get onlyOpaque(): TrustedIssuer | undefined {
    const [only, ...others] = [...this.#byId.values()].filter(({ introspection }) => introspection);
    return others.length === 0 ? only : undefined;
  }

  /** The issuer that a caller names by its id or by its exact `iss`. */
  findNamed(name: string): TrustedIssuer | undefined {
    return this.#byId.get(name) ?? this.#byIssuer.get(name);
  }
}

function isProvider(issuer: TrustedIssuer): issuer is Provider {
  return issuer.clientId !== undefined;
}
