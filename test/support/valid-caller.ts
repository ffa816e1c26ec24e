/**
 * Callers for each of the four kinds of credentials, and the rows that their requests need. Turns a draft whose values fit the contract
 * into a request that must succeed. An operation that is unknown here is sent as drafted, and may be refused.
 */
import { sql } from 'kysely';
import type { LightMyRequestResponse } from 'fastify';
import { allActions } from '../../src/rights/vocabulary.ts';
import { planOf } from '../../src/entity-types/plan.ts';
import { theService } from '../../src/audit/actor.ts';
import { applyChange } from '../../src/entity-types/apply.ts';
import { findType, listTypes } from '../../src/entity-types/store.ts';
import { sessionOf } from './clock.ts';
import { declareType, seed } from './entities.ts';
import { loginClient, type TestIssuer } from './issuer.ts';
import { bodyOf, encodeBody, methodOf, pathOf } from './operations.ts';
import { password, type TestService } from './service.ts';
import type { Draft, Way } from './valid-requests.ts';

/** A session and a token are valid for longer than that. */
const usesOfCredential = 100;

interface Caller {
  id: string;
  name: string;
  password: string;
  way: Way;
  /** The credential; undefined when a new one is needed. */
  headers: Record<string, string> | undefined;
  uses: number;
}

/** A request as it is sent. */
export interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  payload?: string | Buffer;
  remoteAddress?: string;
}

/** The parts that complete a draft: values of path and query parameters, the body, headers. */
interface Completion {
  values?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Headers of the draft that are not sent. */
  without?: readonly string[];
}

export class ValidCaller {
  readonly #service: TestService;
  readonly #issuer: TestIssuer;
  readonly #callers: Map<Way, Caller>;
  #last = 10n ** 12n;
  /** How many types were declared. */
  #declared = 0;

  private constructor(service: TestService, issuer: TestIssuer, callers: Caller[]) {
    this.#service = service;
    this.#issuer = issuer;
    this.#callers = new Map(callers.map((caller) => [caller.way, caller]));
  }

  static async open(service: TestService, issuer: TestIssuer): Promise<ValidCaller> {
    const callers: Caller[] = [];
    for (const way of ['session', 'openid', 'api-key', 'bearer'] as const) {
      const { id } = await service.createUser(way, { '*': [...allActions] });
      await service.link(issuer, way, way);
      callers.push({ id, name: way, password, way, headers: undefined, uses: 0 });
    }
    return new ValidCaller(service, issuer, callers);
  }

  /** The request, and whether it must succeed. */
  async complete(draft: Draft): Promise<{ request: Sent; mustSucceed: boolean }> {
    const { operation, way } = draft;
    const caller = this.#callerBy(way);
    const known = this.#completions[operation.operationId];
    const { values = {}, body = draft.body, query = {}, headers = {}, without = [] } = (await known?.(caller, draft)) ?? {};
    const sent = Object.fromEntries(Object.entries(draft.query).filter(([name]) => !without.includes(name)));
    const search = new URLSearchParams({ ...sent, ...query }).toString();
    const open = operation.security.length === 0;
    const type = bodyOf(operation)?.type ?? '';
    return {
      request: {
        method: methodOf(operation),
        url: pathOf(operation, values) + (search && `?${search}`),
        headers: {
          ...Object.fromEntries(Object.entries(draft.headers).filter(([header]) => !without.includes(header.toLowerCase()))),
          ...headers,
          ...(!open && (await this.#credential(caller, operation.operationId === 'refreshSession'))),
          ...(body !== undefined && { 'content-type': type }),
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : encodeBody(type, body as object) }),
      },
      mustSucceed: known !== undefined || (operation.requestBody === undefined && !operation.path.includes('{')),
    };
  }

  /** Updates its caller by the answer to a request. */
  learn({ operation, way }: Draft, { payload }: Sent, { statusCode, headers }: LightMyRequestResponse): void {
    const caller = this.#callerBy(way);
    if (operation.operationId === 'changePassword' && statusCode === 204)
      caller.password = new URLSearchParams(payload?.toString()).get('set-password') ?? '';
    if (operation.operationId === 'logoutFromProvider') caller.headers = undefined;
    if (operation.security.length === 0 || caller.headers?.['cookie'] === undefined) return;
    const cookie = [headers['set-cookie']].flat().find((line) => line?.startsWith('sid='));
    if (statusCode >= 400 || cookie?.startsWith('sid=;')) caller.headers = undefined;
    else if (cookie !== undefined) caller.headers = { cookie: cookie.split(';')[0] ?? '' };
  }

  #callerBy(way: Way): Caller {
    const caller = this.#callers.get(way);
    if (!caller) throw new Error(`there is no caller with the credential ${way}`);
    return caller;
  }

  async #credential(caller: Caller, renew: boolean): Promise<Record<string, string>> {
    // The number of refreshes of a session is limited.
    if (!caller.headers || renew || ++caller.uses % usesOfCredential === 0) caller.headers = await this.#obtain(caller);
    return caller.headers;
  }

  async #obtain({ id, way }: Caller): Promise<Record<string, string>> {
    const service = this.#service;
    switch (way) {
      case 'session':
        return { cookie: await service.openSession(id) };
      case 'api-key':
        await this.#dropKeys(id);
        return { 'x-api-key': await service.createKey(id) };
      case 'bearer':
        return { authorization: `Bearer ${await this.#mint(way)}` };
      case 'openid': {
        const { path, cookie } = await this.#return(way);
        const answer = await service.inject({ method: 'GET', url: path, headers: { cookie } });
        return { cookie: cookieIn(answer, 'sid') };
      }
    }
  }

  /**
   * Begins to sign in at the provider, or to link by a session. Returns the callback that the provider redirects to, and the cookies for
   * it.
   */
  async #return(way: Way, session?: string): Promise<{ path: string; cookie: string }> {
    const path = `/auth/oidc/${this.#issuer.id}`;
    const left = session
      ? await this.#service.inject({ method: 'POST', url: `${path}/link`, headers: { cookie: session } })
      : await this.#service.inject({ method: 'GET', url: `${path}/start` });
    const { searchParams } = new URL(session ? left.json<{ url: string }>().url : String(left.headers.location));
    const claims = { sub: way, aud: loginClient.id, nonce: searchParams.get('nonce'), client_id: undefined, scope: undefined };
    const id_token = await this.#issuer.mint({ claims: { ...claims, auth_time: Math.floor(Date.now() / 1_000) }, header: { typ: 'JWT' } });
    this.#issuer.answers.set('/token', () => ({ access_token: 'opaque', token_type: 'Bearer', id_token }));
    const query = new URLSearchParams({ state: searchParams.get('state') ?? '', code: 'any', iss: this.#issuer.url });
    return { path: `${path}/callback?${query.toString()}`, cookie: [cookieIn(left, 'oidc'), session].filter(Boolean).join('; ') };
  }

  #mint(way: Way): Promise<string> {
    return this.#issuer.mint({ claims: { sub: way } });
  }

  /** Completes the operations that take a path parameter or a body, by their operation id. */
  readonly #completions: Record<string, (caller: Caller, draft: Draft) => Promise<Completion>> = {
    createSession: async ({ name, password, way }, { lot, locale }) => ({
      body: {
        ...(lot % 4 === 0 ? { user: name, password } : { oidcIssuer: this.#issuer.id, access_token: await this.#mint(way) }),
        ...(lot % 3 === 0 && { locale }),
      },
    }),
    changePassword: async ({ password }, { lot }) => {
      const next = `seven lanterns drift ${(this.#last++ * 7_919n + BigInt(lot)).toString(36)} north`;
      return { body: { 'current-password': password, 'set-password': next, 'confirm-password': next } };
    },
    selectProfile: async ({ name }) => ({ values: { name } }),
    revokeSession: async ({ id }) => ({ values: { id: (await sessionOf(this.#service, await this.#service.openSession(id))).id } }),
    createKey: async ({ id, name }, { body }) => {
      await this.#dropKeys(id);
      return { body: { ...(body as object), ...('profile' in (body as object) && { profile: name }) } };
    },
    revokeKey: async ({ id }) => ({ values: { id: await this.#newKey(id) } }),
    rotateKey: async ({ id }) => ({ values: { id: await this.#newKey(id) } }),
    startOpenIdSignIn: async () => this.#atIssuer,
    initiateOpenIdSignIn: async () => ({ ...this.#atIssuer, body: { iss: this.#issuer.url } }),
    finishOpenIdSignIn: async ({ id, way }, { lot }) => {
      const { path, cookie } = await this.#return(way, lot % 2 === 0 ? undefined : await this.#service.openSession(id));
      return { ...this.#atIssuer, query: Object.fromEntries(new URL(path, this.#service.url).searchParams), headers: { cookie } };
    },
    linkIdentity: async () => this.#atIssuer,
    unlinkIdentity: async ({ id }) => ({ values: { id: await this.#newLink(id) } }),
    logoutFromProvider: async ({ way }) => {
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      const claims = { sub: way, aud: loginClient.id, events, client_id: undefined, scope: undefined };
      return { ...this.#atIssuer, body: { logout_token: await this.#issuer.mint({ claims, header: { typ: 'logout+jwt' } }) } };
    },
    getEntityType: async (_caller, { path }) => ({ values: await this.#newType(path['name']) }),
    putEntityType: async () => {
      await this.#makeRoom();
      return {
        values: { name: `type${++this.#last}` },
        headers: { 'if-none-match': '*' },
        without: ['if-match', 'if-none-match'],
        body: { type: 'object' },
      };
    },
    deleteEntityType: async (_caller, { path }) => {
      const { name } = await this.#newType(path['name']);
      const { digest } = planOf(await findType(this.#service.db, name), { name, document: null, source: 'api' });
      return { values: { name }, query: { confirm: digest } };
    },
    describeEntity: async (_caller, { path }) => ({ values: await this.#newType(path['name']) }),
    planEntityType: async (_caller, { path }) => ({ values: await this.#newType(path['name']), body: { document: { type: 'object' } } }),
    // No scope of a token has `update` beside `read`, and none has `purge`.
    listEntities: async (_caller, { path, way }) => ({ values: path, without: way === 'bearer' ? ['deleted'] : [] }),
    queryEntities: async (_caller, { path, lot }) => {
      const filter = lot % 2 === 0 ? { a: { $gte: lot % 7 } } : { $not: { $or: [{ a: 1 }, { $createdBy: 'session' }] } };
      const sort = lot % 3 === 0 ? ['-a', '$updatedAt'] : ['$key'];
      return { values: path, body: { filter, sort, limit: (lot % 1_000) + 1, count: lot % 5 === 0 ? 'exact' : 'none' } };
    },
    aggregateEntities: async (_caller, { path, lot }) => ({
      values: path,
      body: { filter: { a: { $gte: lot % 7 } }, measures: { n: { $count: true } }, having: { n: { $gte: lot % 3 } }, sort: ['-n'] },
    }),
    createEntity: async (_caller, { path }) => ({ values: path }),
    upsertEntity: async (_caller, { lot }) => ({
      values: await this.#newType('unique', { properties: { a: { type: 'string' } }, 'x-unique': [{ fields: ['a'] }] }),
      query: { by: 'a' },
      body: { a: `value ${lot % 10}` },
      without: ['if-match', 'if-none-match'],
    }),
    getEntity: async (caller, draft) => ({
      ...(await this.#newEntity(caller, draft)),
      ...(draft.lot % 4 === 0
        ? { without: ['fields', 'include', 'labels', 'asOf', 'deleted'], query: { version: '1' } }
        : { without: ['version', 'asOf', 'deleted'] }),
    }),
    listVersions: async (caller, draft) => ({ ...(await this.#newEntity(caller, draft)), without: ['cursor'] }),
    createEntities: async (_caller, { path }) => ({ values: path, body: [{ a: 1 }, {}] }),
    importEntities: async (_caller, { path, lot }) => ({
      values: path,
      body: `{"a":${lot}}\n{"fields":{}}\n`,
      without: ['by', 'mode', 'format', 'delimiter', 'fromRow'],
    }),
    exportEntities: async (_caller, { path }) => ({ values: path, without: ['search', 'sort'] }),
    exportQuery: async (_caller, { path }) => ({ values: path, body: { filter: { a: 1 } } }),
    restoreEntity: async (caller, draft) => ({ ...(await this.#newEntity(caller, draft)), query: { version: '1' } }),
    checkOwnPermission: async ({ name: owner }, { lot }) => {
      const key = String(++this.#last);
      await seed(this.#service, 'note', key, { a: 1 }, owner);
      const action = ['read', 'update', 'delete', 'label'][lot % 5];
      return { body: { entity: 'note', key, ...(action && { action }), ...(action === 'update' && { set: { a: lot } }) } };
    },
    runBatch: async ({ name: owner }) => {
      const key = String(++this.#last);
      await seed(this.#service, 'note', key, { a: 1 }, owner);
      const operations = [
        { op: 'create', name: 'note', fields: { a: 1 } },
        { op: 'update', name: 'note', key, ifMatch: '1', fields: { a: 2 } },
        { op: 'get', name: 'note', key },
        { op: 'delete', name: 'note', key },
      ];
      return { values: {}, body: { operations } };
    },
    updateEntity: (caller, draft) => this.#newEntity(caller, draft),
    deleteEntity: async (caller, draft) => ({
      ...(await this.#newEntity(caller, draft)),
      without: draft.way === 'bearer' ? ['purge'] : [],
    }),
  };

  get #atIssuer(): Completion {
    return { values: { issuer: this.#issuer.id } };
  }

  async #newEntity({ name: owner }: Caller, { path: { name = 'note' } }: Draft): Promise<Completion> {
    const key = String(++this.#last);
    await seed(this.#service, name, key, { a: 1, b: { c: [1, 2] } }, owner);
    return { values: { name, key } };
  }

  /** Declares a type that accepts any object, but for `rest`, unless the name has one. */
  async #newType(name = 'note', rest: object = {}): Promise<{ name: string }> {
    await this.#makeRoom();
    await declareType(this.#service, name, { type: 'object', ...rest });
    return { name };
  }

  /** The number of types is limited. */
  async #makeRoom(): Promise<void> {
    const { db, store } = this.#service;
    if (++this.#declared % 500 > 0) return;
    for (const { name } of await listTypes(db)) {
      const change = { name, document: null, source: 'command' } as const;
      const { digest: confirm } = planOf(await findType(db, name), change);
      await applyChange(store, theService, change, { confirm });
    }
  }

  /** The number of keys of a user is limited. */
  async #dropKeys(userId: string): Promise<void> {
    await sql`delete from api_key where user_id = ${userId}`.execute(this.#service.db);
  }

  /** Inserts a link through which no session was opened. */
  async #newLink(userId: string): Promise<string> {
    const link = { issuer: this.#issuer.url, subject: String(++this.#last), user_id: userId };
    return (await this.#service.db.insertInto('identity').values(link).returning('id').executeTakeFirstOrThrow()).id;
  }

  async #newKey(userId: string): Promise<string> {
    await this.#dropKeys(userId);
    return (await this.#service.createKey(userId)).slice(4, 16);
  }
}

/** The cookie that the answer sets, as a `Cookie` header. */
function cookieIn({ headers, body }: LightMyRequestResponse, name: string): string {
  const cookie = [headers['set-cookie']].flat().find((line) => line?.startsWith(`${name}=`));
  if (!cookie) throw new Error(`no cookie ${name}: ${body}`);
  return cookie.split(';')[0] ?? '';
}
