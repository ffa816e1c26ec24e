/** The client: every operation of the contract under its own name, and entities by theirs. */
import * as operations from '../../generated/client/sdk.gen.ts';
import type {
  Fields,
  IdentityList,
  IssuerList,
  KeyList,
  KeyRequest,
  KeyRotation,
  NewKey,
  ProfileList,
  ProviderAddress,
} from '../../generated/client/types.gen.ts';
import type { SessionInfo, SessionList, SessionsEnded } from '../../generated/client/types.gen.ts';
import { systemClock, type Clock } from './clock.ts';
import { CookieJar, fetchKeepsCookies } from './cookies.ts';
import { Entities } from './entities.ts';
import { Http, type Credential, type Fetch } from './http.ts';
import type { CallOptions, Client } from './operation.ts';
import { deliver, mapResult, type ErrorStyle, type Outcome, type Result } from './result.ts';
import { standardRetry, type RetryPolicy } from './retry.ts';
import { Rotation } from './rotation.ts';
import { requireReturnPath, type SignInUrlOptions } from './sign-in-url.ts';
import { createMutex, createSharedMutex, type Locks } from './mutex.ts';

export interface ClientOptions<S extends ErrorStyle = 'throw'> {
  /** Where the service is, with the path before its own, if any. In a browser it may be relative: `/` is the page's own origin. */
  baseUrl: string | URL;
  /** An API key or an access token; without it the client works with a session. */
  credential?: Credential | undefined;
  /** `throw` (unless told otherwise) or `result`. */
  errors?: S;
  /** Milliseconds that each attempt of a request may take: 30,000 unless told otherwise. */
  timeoutMs?: number;
  /** Changes to how requests are repeated; false for never. */
  retry?: Partial<RetryPolicy> | false;
  /** The language of problems before there is a session, as Accept-Language has it. */
  locale?: string | undefined;
  /** The jar of another client, to share its session. Browsers have their own and share it anyway. */
  cookies?: CookieJar | undefined;
  /** Instead of the global one. */
  fetch?: Fetch;
  /** Instead of the system's, for tests. */
  clock?: Clock;
}

/** What opens a session: a name and a password, or an access token of a trusted issuer. */
export type SignIn = { user: string; password: string; locale?: string } | { oidcIssuer: string; access_token: string; locale?: string };

export class EntityServiceClient<S extends ErrorStyle = 'throw'> {
  /** For the generated operations: `createEntity({ client: client.http, … })`. */
  readonly http: Client;
  /** Where the session cookie is; undefined in a browser and for a client with a credential of its own. */
  readonly cookies: CookieJar | undefined;
  readonly #style: S;
  readonly #rotation: Rotation;
  readonly #hasCredential: boolean;
  /** Whether this is a page of another origin than the service's. */
  readonly #crossOrigin: boolean;

  /** Throws a TypeError for a base URL that is not http or https, or that has more than an origin and a path. */
  constructor(options: ClientOptions<S>) {
    const page = (globalThis as { location?: { href: string } }).location?.href;
    const base = new URL(options.baseUrl, page);
    if (!/^https?:$/.test(base.protocol)) throw new TypeError('the base URL must be http or https');
    if (base.username || base.password || base.search || base.hash) throw new TypeError('the base URL must be an origin and a path');
    const browser = fetchKeepsCookies();
    this.#crossOrigin = browser && page !== undefined && new URL(page).origin !== base.origin;
    this.#style = options.errors ?? ('throw' as S);
    this.#hasCredential = options.credential !== undefined;
    this.cookies = browser || this.#hasCredential ? undefined : (options.cookies ?? new CookieJar(base));
    this.http = new Http({
      base,
      credential: options.credential,
      cookies: this.cookies,
      locale: options.locale,
      timeoutMs: options.timeoutMs ?? 30_000,
      retry: options.retry === false ? { ...standardRetry, attempts: 1 } : { ...standardRetry, ...options.retry },
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
      clock: options.clock ?? systemClock,
    });
    const locks = browser ? (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks : undefined;
    this.#rotation = new Rotation(this.http, locks ? createSharedMutex(locks, base.origin) : createMutex());
  }

  /** The entities called `name`, with fields of type `T`. */
  entities<T extends object = Fields>(name: string): Entities<T, S> {
    return new Entities<T, S>(this.http, this.#style, name);
  }

  /** Opens a session, which later calls carry. Rejects with a TypeError if the client has a credential of its own, which would beat it. */
  async createSession(body: SignIn, options: CallOptions = {}): Promise<Outcome<S, SessionInfo>> {
    if (this.#hasCredential) throw new TypeError('a client with a credential has no session: make one without');
    return this.#session(await operations.createSession({ client: this.http, body, ...options }));
  }

  /** Who is calling and which server answers; with the roles of the active profile and with the profiles, if asked. */
  async getSession({ roles, profiles, ...options }: CallOptions & { roles?: boolean; profiles?: boolean } = {}): Promise<
    Outcome<S, SessionInfo>
  > {
    const query = { ...(roles ? { roles: '1' as const } : {}), ...(profiles ? { profiles: '1' as const } : {}) };
    return this.#session(await operations.getSession({ client: this.http, query, ...options }));
  }

  /**
   * Moves the session's idle deadline. Of calls at the same time, in one tab or several, one refreshes and the others get what it made:
   * none of them is a conflict.
   */
  async refreshSession(options: Pick<CallOptions, 'signal'> = {}): Promise<Outcome<S, SessionInfo>> {
    return deliver(this.#style, await this.#rotation.refresh(options.signal));
  }

  /** Ends the session; does nothing if there is none. */
  async endSession(options: CallOptions = {}): Promise<Outcome<S, void>> {
    if (this.#crossOrigin) return deliver(this.#style, await this.#revokeOwn(options));
    return deliver(this.#style, (await operations.endSession({ client: this.http, query: { logout: '1' }, ...options })) as Result<void>);
  }

  /** A logout is a HEAD, which the service takes from no page of another origin, trusted or not, as browsers send it unasked. */
  async #revokeOwn(options: CallOptions): Promise<Result<void>> {
    const found = await operations.getSession({ client: this.http, ...options });
    if (!found.ok) return found.error.status === 401 ? { ok: true, value: undefined, status: 204, headers: new Headers() } : found;
    const { session } = found.value;
    if (session === null) return mapResult(found, () => undefined);
    return await operations.revokeSession({ client: this.http, path: { id: session.id }, ...options });
  }

  async listProfiles(options: CallOptions = {}): Promise<Outcome<S, ProfileList>> {
    return deliver(this.#style, await operations.listProfiles({ client: this.http, ...options }));
  }

  /** From now on, only the roles of the named profile grant anything. */
  async selectProfile(name: string, options: CallOptions = {}): Promise<Outcome<S, SessionInfo>> {
    return this.#session(await this.#rotation.replace(() => operations.selectProfile({ client: this.http, path: { name }, ...options })));
  }

  async selectDefaultProfile(options: CallOptions = {}): Promise<Outcome<S, SessionInfo>> {
    return this.#session(await this.#rotation.replace(() => operations.selectDefaultProfile({ client: this.http, ...options })));
  }

  /** Changes the password and ends the user's other sessions; this one goes on. */
  async changePassword(passwords: { current: string; next: string }, options: CallOptions = {}): Promise<Outcome<S, void>> {
    const { current, next } = passwords;
    const body = { 'current-password': current, 'set-password': next, 'confirm-password': next };
    return deliver(this.#style, await this.#rotation.replace(() => operations.changePassword({ client: this.http, body, ...options })));
  }

  async listSessions(options: CallOptions = {}): Promise<Outcome<S, SessionList>> {
    return deliver(this.#style, await operations.listSessions({ client: this.http, ...options }));
  }

  /** Ends one of the user's sessions; ending the client's own is a logout. */
  async revokeSession(id: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliver(this.#style, await operations.revokeSession({ client: this.http, path: { id }, ...options }));
  }

  async revokeOtherSessions(options: CallOptions = {}): Promise<Outcome<S, SessionsEnded>> {
    return deliver(this.#style, await operations.revokeOtherSessions({ client: this.http, ...options }));
  }

  /** The providers that a user can sign in at with a browser; `signInUrl` makes the address to send it to. */
  async listIssuers(options: CallOptions = {}): Promise<Outcome<S, IssuerList>> {
    return deliver(this.#style, await operations.listIssuers({ client: this.http, ...options }));
  }

  /**
   * Begins to link an identity at a provider, by the id that `listIssuers` gives, to the user: send the browser that calls this to the `url`
   * of the answer. It comes back to `returnTo`, as for `signInUrl`. Needs a session that was signed in to lately.
   */
  async linkIdentity(
    issuer: string,
    { returnTo, ...options }: CallOptions & Pick<SignInUrlOptions, 'returnTo'> = {},
  ): Promise<Outcome<S, ProviderAddress>> {
    const query = returnTo === undefined ? {} : { return_to: requireReturnPath(returnTo) };
    return deliver(this.#style, await operations.linkIdentity({ client: this.http, path: { issuer }, query, ...options }));
  }

  /** The identities at issuers by which the user can sign in. */
  async listIdentities(options: CallOptions = {}): Promise<Outcome<S, IdentityList>> {
    return deliver(this.#style, await operations.listIdentities({ client: this.http, ...options }));
  }

  /** Removes a link, by the id that `listIdentities` gives, and ends the sessions opened by it. Needs a session that was signed in to lately. */
  async unlinkIdentity(id: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliver(this.#style, await operations.unlinkIdentity({ client: this.http, path: { id }, ...options }));
  }

  async listKeys(options: CallOptions = {}): Promise<Outcome<S, KeyList>> {
    return deliver(this.#style, await operations.listKeys({ client: this.http, ...options }));
  }

  /** Makes an API key, which is in the answer and nowhere else. Never repeated: a lost answer is a key that nobody has. */
  async createKey(body: KeyRequest, options: CallOptions = {}): Promise<Outcome<S, NewKey>> {
    return deliver(this.#style, await operations.createKey({ client: this.http, body, ...options }));
  }

  async rotateKey(id: string, body: KeyRotation = {}, options: CallOptions = {}): Promise<Outcome<S, NewKey>> {
    return deliver(this.#style, await operations.rotateKey({ client: this.http, path: { id }, body, ...options }));
  }

  async revokeKey(id: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliver(this.#style, await operations.revokeKey({ client: this.http, path: { id }, ...options }));
  }

  #session(result: Result<SessionInfo>): Outcome<S, SessionInfo> {
    return deliver(this.#style, this.#rotation.note(result));
  }
}
