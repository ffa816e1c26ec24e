/**
 * The trusted issuers, each with its keys and, where users sign in, its endpoints. The service contacts no other issuer (security rule 46).
 */
import type { Configuration } from 'openid-client';
import type { Admission } from '../../admission/admission.ts';
import { discoverProvider } from './discover.ts';
import { CachedMetadata, type CachedMetadataOptions } from './cached-metadata.ts';
import { Introspection } from './introspection.ts';
import { IssuerKeys } from './keys.ts';
import type { Issuer } from '../issuers-file/read.ts';

/** The clocks of this process. Tests replace them. */
export interface TokenClock {
  /** Milliseconds since 1970, for the times in tokens. */
  wall: () => number;
  /** Milliseconds of a monotonic clock, to measure durations. */
  steady: () => number;
}

export const systemClock: TokenClock = { wall: () => Date.now(), steady: () => performance.now() };

export interface TrustedIssuer extends Issuer {
  keys: IssuerKeys;
  /** For opaque tokens; undefined for an issuer that signs its tokens. */
  introspection: Introspection | undefined;
  /** The issuer's endpoints, with this service as its client. */
  provider: CachedMetadata<Configuration>;
}

/** An issuer at which users can sign in, because this service is its client. */
export interface Provider extends TrustedIssuer {
  clientId: string;
}

export interface IssuerRegistryOptions {
  /** Called when a request to an issuer fails. */
  onError: (error: unknown, issuerId: string) => void;
  /** Returns whether a text must not be sent to any issuer, as in {@link Introspection}. */
  isOurs: (text: string) => Promise<boolean>;
  admission: Admission;
}

export class IssuerRegistry {
  readonly clock: TokenClock;
  readonly #byIssuer = new Map<string, TrustedIssuer>();
  readonly #byId = new Map<string, TrustedIssuer>();
  readonly #contacted = new Set<string>();

  constructor(issuers: readonly Issuer[], { onError, isOurs, admission }: IssuerRegistryOptions, clock = systemClock) {
    const places = admission.queueOf('introspection');
    this.clock = clock;
    for (const issuer of issuers) {
      const options: CachedMetadataOptions = {
        now: clock.steady,
        onAnswer: () => this.#contacted.add(issuer.id),
        onError: (error) => {
          this.#contacted.add(issuer.id);
          onError(error, issuer.id);
        },
      };
      const keys = new IssuerKeys(issuer, options);
      const provider = new CachedMetadata(() => discoverProvider(issuer), `${issuer.issuer} does not say where to sign in`, options);
      const introspection = issuer.tokenType === 'opaque' ? new Introspection(issuer, options, isOurs, places) : undefined;
      const trusted = { ...issuer, keys, provider, introspection };
      this.#byId.set(issuer.id, trusted);
      this.#byIssuer.set(issuer.issuer, trusted);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Whether each issuer answered the last request of each kind, by id. Omits issuers that have not been contacted yet. */
  get answering(): ReadonlyMap<string, boolean> {
    return new Map(
      this.all
        .filter(({ id }) => this.#contacted.has(id))
        .map((issuer) => [issuer.id, requestsTo(issuer).every(({ isFailing }) => !isFailing)]),
    );
  }

  /** Requests again what issuers did not answer last, so that `answering` does not wait for a token. Never throws. */
  async retryFailed(): Promise<void> {
    await Promise.all(this.all.flatMap(requestsTo).map((request) => request.retryFailed()));
  }

  /** In the order of the file. */
  get all(): TrustedIssuer[] {
    return [...this.#byId.values()];
  }

  /** The issuers at which users can sign in, in the order of the file. */
  get providers(): Provider[] {
    return this.all.filter(isProvider);
  }

  /** The issuer with this id, if users can sign in at it. */
  findProvider(id: string): Provider | undefined {
    const issuer = this.#byId.get(id);
    return issuer && isProvider(issuer) ? issuer : undefined;
  }

  /** The issuer with exactly this `iss`. */
  find(iss: string): TrustedIssuer | undefined {
    return this.#byIssuer.get(iss);
  }

  /**
   * The only issuer of opaque tokens. Undefined if there are several, because a token that names no issuer must not be sent to all of them.
   */
  get onlyOpaque(): TrustedIssuer | undefined {
    const [only, ...others] = [...this.#byId.values()].filter(({ introspection }) => introspection);
    return others.length === 0 ? only : undefined;
  }

  /** The issuer with this id or with exactly this `iss`. */
  findNamed(name: string): TrustedIssuer | undefined {
    return this.#byId.get(name) ?? this.#byIssuer.get(name);
  }
}

/** The requests that the service sends to the issuer. */
function requestsTo({ keys, provider, introspection }: TrustedIssuer): Pick<IssuerKeys, 'isFailing' | 'retryFailed'>[] {
  return [keys, provider, ...(introspection ? [introspection] : [])];
}

function isProvider(issuer: TrustedIssuer): issuer is Provider {
  return issuer.clientId !== undefined;
}
