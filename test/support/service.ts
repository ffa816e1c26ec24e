/**
 * The service for tests: a real server on a free port with its own database, and a caller that speaks HTTP to it. Import this before
 * anything that builds a service.
 */
import { found } from './contract.ts';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import type { Kysely } from 'kysely';
import { insertKey, type NewKey } from '../../src/api-keys/store.ts';
import { readConfig } from '../../src/config/settings.ts';
import type { Database } from '../../src/database/tables.ts';
import type { Action, Condition } from '../../src/rights/vocabulary.ts';
import type { Store } from '../../src/database/port.ts';
import type { TokenClock } from '../../src/oidc/tokens/issuer-registry.ts';
import { Admission } from '../../src/admission/admission.ts';
import { hashPassword } from '../../src/credentials/hash.ts';
import { createThrottle } from '../../src/credentials/throttle.ts';
import { openService, type Service } from '../../src/service.ts';
import { sessionCookie } from '../../src/sessions/cookie.ts';
import { insertSession } from '../../src/sessions/insert.ts';
import { hashToken, newToken } from '../../src/sessions/token.ts';
import { asOwner } from '../../src/cli/owner.ts';
import { linkUserIdentity, unlinkUserIdentity } from '../../src/administration/identities/use-cases.ts';
import { getAccount } from '../../src/accounts/users.ts';
import { createDatabase, pooledUrlOf, type TestDatabase } from './database.ts';
import { patient } from './races.ts';

export type Settings = Record<string, string>;

export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  /** The parsed body; undefined when there is none. */
  body: T;
  text: string;
}

export interface Call {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form. */
  form?: Record<string, string> | [string, string][];
  /** Sent unchanged. */
  raw?: string | Buffer;
  cookie?: string | undefined;
}

export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  errors?: { pointer?: string; parameter?: string; position?: number; code: string; detail: string; expected?: string }[];
}

/** The password of every user that `TestService.createUser` creates. */
export const password = 'correct horse battery staple';

/** The administrator of the tests. */
export const owner = asOwner({ name: 'operator', origin: undefined, via: 'cli' });

/** Grants in the short form of tests: entity → actions, or entity → [actions, condition]. */
export type TestGrants = Record<string, Action[] | { actions: Action[]; condition: Condition }>;

export class TestService {
  readonly #database: TestDatabase;
  readonly #service: Service;
  #passwordHash: Promise<string> | undefined;
  /** The origin of the service. */
  readonly url: string;

  private constructor(database: TestDatabase, service: Service) {
    this.#database = database;
    this.#service = service;
    this.url = service.address;
  }

  static async start(settings: Settings = {}, database?: TestDatabase, clock?: TokenClock): Promise<TestService> {
    const own = database ?? (await createDatabase());
    const pooled = settings['DATABASE_URL'] === undefined ? pooledUrlOf(own.url) : undefined;
    const config = readConfig({
      PORT: '0',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
      RATE_LIMIT: 'off',
      PUBLIC_URL: 'http://localhost:3000',
      ...(pooled && { DATABASE_URL: pooled, DATABASE_DIRECT_URL: own.url }),
      ...settings,
    });
    try {
      return new TestService(own, await openService(config, pooled ?? own.url, clock));
    } catch (error) {
      await own.drop();
      throw error;
    }
  }

  /** Removes the time limits on waiting sign-ins, which a busy machine would otherwise exceed. */
  waitPatiently(): void {
    const { context } = this.#service;
    context.admission = new Admission({ schedule: patient });
    context.throttle = createThrottle(context.store.db, context.serviceSecrets, context.admission);
  }

  get db(): Kysely<Database> {
    return this.#service.context.store.db;
  }

  get store(): Store {
    return this.#service.context.store;
  }

  get app(): Service['app'] {
    return this.#service.app;
  }

  get context(): Service['context'] {
    return this.#service.context;
  }

  /** The URL of its database, for other processes. */
  get databaseUrl(): string {
    return this.#database.url;
  }

  /** A second replica over the same database; close it before this one. */
  replica(settings: Settings = {}, clock?: TokenClock): Promise<TestService> {
    return TestService.start(settings, { url: this.#database.url, drop: async () => undefined }, clock);
  }

  /** Stops it as SIGTERM does: clients with an open connection get notice for most of a second, and lose no request. */
  async stop(): Promise<void> {
    await this.#service.close();
  }

  /** Closes it without notice to clients, which only clients with open connections need. */
  async close(): Promise<void> {
    this.#service.app.server.closeIdleConnections();
    await this.stop();
    await this.#database.drop();
  }

  /** Waits until every process has processed changes made directly in the database, such as timestamps moved by an UPDATE. */
  settle(): Promise<void> {
    return this.context.listener.settle();
  }

  async call<T = ProblemBody>(method: string, path: string, { headers = {}, json, form, raw, cookie }: Call = {}): Promise<Answer<T>> {
    const body = json !== undefined ? JSON.stringify(json) : form !== undefined ? new URLSearchParams(form).toString() : raw;
    const type = json !== undefined ? 'application/json' : form !== undefined ? 'application/x-www-form-urlencoded' : undefined;
    // A sign-in at a provider begins at the host of PUBLIC_URL, which is not the address of the service here.
    const origin = path.startsWith('/auth/oidc/') ? this.url.replace('//127.0.0.1:', '//localhost:') : this.url;
    const response = await fetch(origin + path, {
      method,
      redirect: 'manual',
      headers: { ...(type && { 'content-type': type }), ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const isJson = /\bjson/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: (isJson && text ? JSON.parse(text) : undefined) as T, text };
  }

  /** Sends a request without a socket, which is faster and allows requests that `fetch` refuses. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse> {
    return this.#service.app.inject(request);
  }

  /** Creates a user with {@link password} and, unless `grants` is null, a default profile and role of the same name with these grants. */
  async createUser(name: string, grants: TestGrants | null = { '*': ['create', 'read', 'update', 'delete'] }): Promise<{ id: string }> {
    // All users with this password share one hash, because making a hash is expensive.
    this.#passwordHash ??= hashPassword(this.context, password);
    const user = await this.db
      .insertInto('user_account')
      .values({ name, display_name: name, locale: null, password_hash: await this.#passwordHash })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (grants) await this.createProfile(user.id, name, grants, true);
    return user;
  }

  /** Gives a user a profile with one role of the same name. */
  async createProfile(userId: string, name: string, grants: TestGrants, isDefault = false): Promise<void> {
    const { db } = this;
    const role = await db.insertInto('role').values({ name, description: '' }).returning('id').executeTakeFirstOrThrow();
    const rows = Object.entries(grants).flatMap(([entity, grant]) => {
      const { actions, condition } = Array.isArray(grant) ? { actions: grant, condition: 'any' as const } : grant;
      return actions.map((action) => ({ role_id: role.id, entity, action, condition }));
    });
    if (rows.length > 0) await db.insertInto('role_grant').values(rows).execute();
    const profile = await db.insertInto('profile').values({ name, label: name, locale: null }).returning('id').executeTakeFirstOrThrow();
    await db.insertInto('profile_role').values({ profile_id: profile.id, role_id: role.id }).execute();
    await db.insertInto('user_profile').values({ user_id: userId, profile_id: profile.id, is_default: isDefault }).execute();
  }

  /** Links the subject of an issuer to the user called `userName`. */
  async link(issuer: { url: string }, subject: string, userName: string): Promise<void> {
    const { changed } = await linkUserIdentity(this.store, owner, userName, { issuer: issuer.url, subject });
    expect(changed).toBe(true);
  }

  /** Removes that link, and waits until every process has processed the removal. */
  async unlink(issuer: { url: string }, subject: string, userName: string): Promise<void> {
    await unlinkUserIdentity(this.store, owner, userName, { issuer: issuer.url, subject });
    await this.settle();
  }

  /** Creates an API key of the user that acts under their default profile, unless `wanted` says otherwise. */
  async createKey(userId: string, wanted: Partial<NewKey> = {}): Promise<string> {
    const key = { userId, name: 'test', profileId: null, scopes: null, expiresInDays: 90, ...wanted };
    return (await this.store.transaction((trx) => insertKey(trx, key))).key;
  }

  /** Inserts a live session of the user like that of {@link signIn}, without the work on a password. Returns the cookie. */
  async openSession(userId: string): Promise<string> {
    const { config } = this.context;
    const token = newToken();
    const { credentialVersion, name: userName } = await getAccount(this.db, userId);
    const opening = { method: 'password', issuer: null, scopes: null, locale: 'en', authenticatedAt: undefined } as const;
    const origin = { requestId: 'urn:uuid:00000000-0000-0000-0000-000000000000', address: '127.0.0.1', userAgent: undefined };
    const session = { ...opening, tokenHash: hashToken(token), userId, credentialVersion };
    const opened = await insertSession(this.db, session, config, { origin, userName, events: [] });
    if (!opened) throw new Error('the user is disabled');
    return `${sessionCookie(config).name}=${token}`;
  }

  /** Signs in and returns the cookie, as `sid=…`. */
  async signIn(user: string, secret = password): Promise<string> {
    const answer = await this.call('POST', '/auth', { form: { user, password: secret } });
    expect(answer.status, answer.text).toBe(200);
    return cookieOf(answer);
  }
}

/** The session cookie of an answer, as a `Cookie` header. Fails the test when there is none. */
export function cookieOf(answer: Answer): string {
  const [pair = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';');
  expect(pair).toMatch(/^(__Host-)?sid=.{32}$/);
  return pair;
}

/** A service for all tests of a file; `service()` returns it while they run. */
export function useService(settings: Settings = {}, clock?: TokenClock): () => TestService {
  let service: TestService | undefined;
  beforeAll(async () => {
    service = await TestService.start(settings, undefined, clock);
  });
  afterEach(() => {
    expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  });
  afterAll(async () => {
    await service?.close();
  });
  return () => {
    if (!service) throw new Error('the service has not been started');
    return service;
  };
}
