/** The client: each operation of the contract is a method under its operation id, and `entities(name)` has those of entities. */
import * as operations from '../../generated/client/sdk.gen.ts';
import type {
  BatchResults,
  EntityType,
  EntityTypeList,
  Fields,
  IdentityList,
  IssuerList,
  KeyList,
  KeyRequest,
  KeyRotation,
  NewKey,
  PermissionQuestion,
  ProfileList,
  ProviderAddress,
  SessionInfo,
  SessionList,
  SessionsEnded,
  TypeDocument,
  TypePlan,
} from '../../generated/client/types.gen.ts';
import type { Batch } from './batch.ts';
import type { ClientOptions, SignIn } from './client-options.ts';
import { systemClock, type Clock } from './clock.ts';
import { CookieJar, fetchStoresCookies } from './cookies.ts';
import { Entities } from './entities.ts';
import { Http } from './http.ts';
import { withIdempotencyKey, type CallOptions, type Client, type WriteOptions } from './operation.ts';
import { checkOwnPermission, type AnswerTo } from './permission.ts';
import { deliverResult, mapResult, type ErrorStyle, type Outcome, type Result } from './result.ts';
import { standardRetry, type RetryPolicy } from './retry.ts';
import { Rotation } from './rotation.ts';
import { requireReturnPath, type SignInUrlOptions } from './sign-in-url.ts';
import { createMutex, createSharedMutex, type Locks } from './mutex.ts';

export class EntityServiceClient<S extends ErrorStyle = 'throw'> {
  /** For the generated operations: `createEntity({ client: client.http, … })`. */
  readonly http: Client;
  /** The jar with the session cookie; undefined in a browser and for a client with a credential of its own. */
  readonly cookies: CookieJar | undefined;
  readonly #style: S;
  readonly #rotation: Rotation;
  readonly #clock: Clock;
  readonly #retry: RetryPolicy;
  readonly #hasCredential: boolean;
  /** Whether this is a page of another origin than the service's. */
  readonly #crossOrigin: boolean;

  /** Throws a TypeError for a base URL that is not http or https, or that has more than an origin and a path. */
  constructor(options: ClientOptions<S>) {
    const page = (globalThis as { location?: { href: string } }).location?.href;
    const base = new URL(options.baseUrl, page);
    if (!/^https?:$/.test(base.protocol)) throw new TypeError('the base URL must be http or https');
    if (base.username || base.password || base.search || base.hash) throw new TypeError('the base URL must be an origin and a path');
    const browser = fetchStoresCookies();
    this.#crossOrigin = browser && page !== undefined && new URL(page).origin !== base.origin;
    this.#style = options.errors ?? ('throw' as S);
    this.#hasCredential = options.credential !== undefined;
    this.cookies = browser || this.#hasCredential ? undefined : (options.cookies ?? new CookieJar(base, options));
    this.#clock = options.clock ?? systemClock;
    this.#retry = options.retry === false ? { ...standardRetry, attempts: 1 } : { ...standardRetry, ...options.retry };
    this.http = new Http({
      base,
      credential: options.credential,
      cookies: this.cookies,
      locale: options.locale,
      timeoutMs: options.timeoutMs ?? 30_000,
      retry: this.#retry,
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
      clock: this.#clock,
    });
    const locks = browser ? (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks : undefined;
    this.#rotation = new Rotation(this.http, locks ? createSharedMutex(locks, base.origin) : createMutex());
  }

  /** The entities called `name`, with fields of type `T`. */
  entities<T extends object = Fields>(name: string): Entities<T, S> {
    const retryBudget = { clock: this.#clock, totalMs: this.#retry.totalMs };
    return new Entities<T, S>(this.http, this.#style, name, retryBudget);
  }

  /** Opens a session for the later calls. Rejects with a TypeError if the client has a credential of its own, which would take precedence. */
  async createSession(body: SignIn, options: CallOptions = {}): Promise<Outcome<S, SessionInfo>> {
    if (this.#hasCredential) throw new TypeError('a client with a credential has no session: make one without');
    return this.#session(await operations.createSession({ client: this.http, body, ...options }));
  }

  /** The caller and the server; on request with the roles of the active profile and with the profiles. */
  async getSession({ roles, profiles, ...options }: CallOptions & { roles?: boolean; profiles?: boolean } = {}): Promise<
    Outcome<S, SessionInfo>
  > {
    const query = { ...(roles ? { roles: '1' as const } : {}), ...(profiles ? { profiles: '1' as const } : {}) };
    return this.#session(await operations.getSession({ client: this.http, query, ...options }));
  }

  /**
   * Moves the session's idle deadline. Concurrent calls, in one tab or in several, cause one refresh; the others return its result instead of
   * a conflict.
   */
  async refreshSession(options: Pick<CallOptions, 'signal'> = {}): Promise<Outcome<S, SessionInfo>> {
    return deliverResult(this.#style, await this.#rotation.refresh(options.signal));
  }

  /** Ends the session; does nothing if there is none. */
  async endSession(options: CallOptions = {}): Promise<Outcome<S, void>> {
    if (this.#crossOrigin) return deliverResult(this.#style, await this.#revokeOwn(options));
    return deliverResult(
      this.#style,
      (await operations.endSession({ client: this.http, query: { logout: '1' }, ...options })) as Result<void>,
    );
  }

  /** The service rejects a logout by HEAD from pages of another origin, because browsers send HEAD requests without asking. */
  async #revokeOwn(options: CallOptions): Promise<Result<void>> {
    const found = await operations.getSession({ client: this.http, ...options });
    if (!found.ok) return found.error.status === 401 ? { ok: true, value: undefined, status: 204, headers: new Headers() } : found;
    const { session } = found.value;
    if (session === null) return mapResult(found, () => undefined);
    return await operations.revokeSession({ client: this.http, path: { id: session.id }, ...options });
  }

  /** Explains how the service would answer a request, and why; without an action each action. It changes nothing. */
  async checkOwnPermission<Q extends PermissionQuestion>(question: Q, options: CallOptions = {}): Promise<Outcome<S, AnswerTo<Q>>> {
    return deliverResult(this.#style, await checkOwnPermission(this.http, question, options));
  }

  async listProfiles(options: CallOptions = {}): Promise<Outcome<S, ProfileList>> {
    return deliverResult(this.#style, await operations.listProfiles({ client: this.http, ...options }));
  }

  /** Makes the named profile the active one: from then on only its roles grant rights. */
  async selectProfile(name: string, options: CallOptions = {}): Promise<Outcome<S, SessionInfo>> {
    return this.#session(await this.#rotation.replace(() => operations.selectProfile({ client: this.http, path: { name }, ...options })));
  }

  async selectDefaultProfile(options: CallOptions = {}): Promise<Outcome<S, SessionInfo>> {
    return this.#session(await this.#rotation.replace(() => operations.selectDefaultProfile({ client: this.http, ...options })));
  }

  /** Changes the password and ends the user's other sessions; this session stays. */
  async changePassword(passwords: { current: string; next: string }, options: CallOptions = {}): Promise<Outcome<S, void>> {
    const { current, next } = passwords;
    const body = { 'current-password': current, 'set-password': next, 'confirm-password': next };
    return deliverResult(
      this.#style,
      await this.#rotation.replace(() => operations.changePassword({ client: this.http, body, ...options })),
    );
  }

  async listSessions(options: CallOptions = {}): Promise<Outcome<S, SessionList>> {
    return deliverResult(this.#style, await operations.listSessions({ client: this.http, ...options }));
  }

  /** Ends one of the user's sessions. Ending the client's own session is a logout. */
  async revokeSession(id: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliverResult(this.#style, await operations.revokeSession({ client: this.http, path: { id }, ...options }));
  }

  async revokeOtherSessions(options: CallOptions = {}): Promise<Outcome<S, SessionsEnded>> {
    return deliverResult(this.#style, await operations.revokeOtherSessions({ client: this.http, ...options }));
  }

  /** The providers at which a user can sign in with a browser; `signInUrl` makes the URL for the browser. */
  async listIssuers(options: CallOptions = {}): Promise<Outcome<S, IssuerList>> {
    return deliverResult(this.#style, await operations.listIssuers({ client: this.http, ...options }));
  }

  /**
   * Begins to link the user to an identity at a provider, which is named by the id that `listIssuers` gives. Send the browser to the `url` of
   * the answer. It returns to `returnTo`, as for `signInUrl`. Requires a session signed in within the last 15 minutes.
   */
  async linkIdentity(
    issuer: string,
    { returnTo, ...options }: CallOptions & Pick<SignInUrlOptions, 'returnTo'> = {},
  ): Promise<Outcome<S, ProviderAddress>> {
    const query = returnTo === undefined ? {} : { return_to: requireReturnPath(returnTo) };
    return deliverResult(this.#style, await operations.linkIdentity({ client: this.http, path: { issuer }, query, ...options }));
  }

  /** The user's identities at issuers, with which the user can sign in. */
  async listIdentities(options: CallOptions = {}): Promise<Outcome<S, IdentityList>> {
    return deliverResult(this.#style, await operations.listIdentities({ client: this.http, ...options }));
  }

  /** Removes a link by its id of `listIdentities`, and ends the sessions opened by it. Requires a session signed in within the last 15 minutes. */
  async unlinkIdentity(id: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliverResult(this.#style, await operations.unlinkIdentity({ client: this.http, path: { id }, ...options }));
  }

  async listKeys(options: CallOptions = {}): Promise<Outcome<S, KeyList>> {
    return deliverResult(this.#style, await operations.listKeys({ client: this.http, ...options }));
  }

  /** Creates an API key. Only this answer contains it. The request is never repeated: after a lost answer the key exists unused. */
  async createKey(body: KeyRequest, options: CallOptions = {}): Promise<Outcome<S, NewKey>> {
    return deliverResult(this.#style, await operations.createKey({ client: this.http, body, ...options }));
  }

  async rotateKey(id: string, body: KeyRotation = {}, options: CallOptions = {}): Promise<Outcome<S, NewKey>> {
    return deliverResult(this.#style, await operations.rotateKey({ client: this.http, path: { id }, body, ...options }));
  }

  async revokeKey(id: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliverResult(this.#style, await operations.revokeKey({ client: this.http, path: { id }, ...options }));
  }

  /** The entity types that the caller may declare, without their documents. */
  async listEntityTypes(options: CallOptions = {}): Promise<Outcome<S, EntityTypeList>> {
    return deliverResult(this.#style, await operations.listEntityTypes({ client: this.http, ...options }));
  }

  /** The type of the entities called `name`; `not-found` if there is none. */
  async getEntityType(name: string, options: CallOptions = {}): Promise<Outcome<S, EntityType>> {
    return deliverResult(this.#style, await operations.getEntityType({ client: this.http, path: { name }, ...options }));
  }

  /** What declaring the document, or without one the deletion, would do. It changes nothing. */
  async planEntityType(name: string, document: TypeDocument | null, options: CallOptions = {}): Promise<Outcome<S, TypePlan>> {
    return deliverResult(
      this.#style,
      await operations.planEntityType({ client: this.http, path: { name }, body: document ? { document } : {}, ...options }),
    );
  }

  /**
   * Declares the type, or with a `revision` changes it if it still has that one; otherwise `precondition-failed`. `allowUnfit` accepts stored entities that
   * do not fit.
   */
  async putEntityType(
    name: string,
    document: TypeDocument,
    { revision, allowUnfit, ...options }: CallOptions & { revision?: string; allowUnfit?: boolean } = {},
  ): Promise<Outcome<S, EntityType>> {
    const headers = revision === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${revision}"` };
    const query = allowUnfit ? { allowUnfit: '1' as const } : {};
    return deliverResult(
      this.#style,
      await operations.putEntityType({ client: this.http, path: { name }, body: document, query, headers, ...options }),
    );
  }

  /** Deletes the type; its entities stay. `confirm` is the digest of the plan of the deletion. */
  async deleteEntityType(name: string, confirm: string, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliverResult(
      this.#style,
      await operations.deleteEntityType({ client: this.http, path: { name }, query: { confirm }, ...options }),
    );
  }

  /** Runs the operations of a batch. With `dryRun` nothing is written, and the keys of creates are never given again. */
  async runBatch(
    batch: Batch,
    { dryRun = false, ...options }: WriteOptions & { dryRun?: boolean } = {},
  ): Promise<Outcome<S, BatchResults>> {
    const { headers, ...request } = withIdempotencyKey(options);
    const preferring = dryRun ? { ...headers, Prefer: 'dry-run' } : headers;
    return deliverResult(
      this.#style,
      await operations.runBatch({ client: this.http, body: batch.toJSON(), ...request, headers: preferring }),
    );
  }

  #session(result: Result<SessionInfo>): Outcome<S, SessionInfo> {
    return deliverResult(this.#style, this.#rotation.storeDeadline(result));
  }
}
