/**
 * Callers that know what they are doing, one for each of the four ways in, and what they need to be there: it turns a draft whose values fit
 * the contract into a request that must succeed. What it has not heard of is sent as drafted, and may be refused.
 */
import { sql } from 'kysely';
import type { LightMyRequestResponse } from 'fastify';
import { sessionOf } from './clock.ts';
import { seed } from './entities.ts';
import type { TestIssuer } from './issuer.ts';
import { bodyOf, encodeBody, methodOf, pathOf } from './operations.ts';
import { password, type TestService } from './service.ts';
import type { Draft, Way } from './valid-requests.ts';

/** A session and a token last longer than that. */
const usesOfCredential = 100;

interface Caller {
  id: string;
  name: string;
  password: string;
  way: Way;
  /** What it carries; undefined when it has to get something new. */
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

/** What a draft lacks: values of path parameters, members of the body, headers. */
interface Completion {
  values?: Record<string, string>;
  body?: unknown;
}

export class World {
  readonly #service: TestService;
  readonly #issuer: TestIssuer;
  readonly #callers: Map<Way, Caller>;
  #last = 10n ** 12n;

  private constructor(service: TestService, issuer: TestIssuer, callers: Caller[]) {
    this.#service = service;
    this.#issuer = issuer;
    this.#callers = new Map(callers.map((caller) => [caller.way, caller]));
  }

  static async open(service: TestService, issuer: TestIssuer): Promise<World> {
    const callers: Caller[] = [];
    for (const way of ['session', 'openid', 'api-key', 'bearer'] as const) {
      const { id } = await service.createUser(way);
      await service.link(issuer, way, way);
      callers.push({ id, name: way, password, way, headers: undefined, uses: 0 });
    }
    return new World(service, issuer, callers);
  }

  /** The request, and whether it must succeed. */
  async complete(draft: Draft): Promise<{ request: Sent; mustSucceed: boolean }> {
    const { operation, way, query, headers } = draft;
    const caller = this.#callerBy(way);
    const known = this.#completions[operation.operationId];
    const { values = {}, body = draft.body } = (await known?.(caller, draft)) ?? {};
    const search = new URLSearchParams(query).toString();
    const open = operation.security.length === 0;
    const type = bodyOf(operation)?.type ?? '';
    return {
      request: {
        method: methodOf(operation),
        url: pathOf(operation, values) + (search && `?${search}`),
        headers: {
          ...headers,
          ...(!open && (await this.#credential(caller, operation.operationId === 'refreshSession'))),
          ...(body !== undefined && { 'content-type': type }),
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : encodeBody(type, body as object) }),
      },
      mustSucceed: known !== undefined || (operation.requestBody === undefined && !operation.path.includes('{')),
    };
  }

  /** Remembers what the answer to a request has changed for its caller. */
  learn({ operation, way }: Draft, { payload }: Sent, { statusCode, headers }: LightMyRequestResponse): void {
    const caller = this.#callerBy(way);
    if (operation.operationId === 'changePassword' && statusCode === 204)
      caller.password = new URLSearchParams(payload?.toString()).get('set-password') ?? '';
    if (operation.security.length === 0 || caller.headers?.['cookie'] === undefined) return;
    const [cookie] = [headers['set-cookie']].flat();
    if (statusCode >= 400 || cookie?.startsWith('sid=;')) caller.headers = undefined;
    else if (cookie !== undefined) caller.headers = { cookie: cookie.split(';')[0] ?? '' };
  }

  #callerBy(way: Way): Caller {
    const caller = this.#callers.get(way);
    if (!caller) throw new Error(`nobody comes in by ${way}`);
    return caller;
  }

  async #credential(caller: Caller, renew: boolean): Promise<Record<string, string>> {
    // A session may be refreshed only so often.
    if (!caller.headers || renew || ++caller.uses % usesOfCredential === 0) caller.headers = await this.#obtain(caller);
    return caller.headers;
  }

  async #obtain({ id, way }: Caller): Promise<Record<string, string>> {
    const service = this.#service;
    switch (way) {
      case 'session':
        return { cookie: await service.openSession(id) };
      case 'api-key':
        return { 'x-api-key': await service.createKey(id) };
      case 'bearer':
        return { authorization: `Bearer ${await this.#mint(way)}` };
      case 'openid': {
        const form = new URLSearchParams({ oidcIssuer: this.#issuer.id, access_token: await this.#mint(way) });
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await service.inject({ method: 'POST', url: '/auth', headers, payload: form.toString() });
        return { cookie: String([answer.headers['set-cookie']].flat()[0]).split(';')[0] ?? '' };
      }
    }
  }

  #mint(way: Way): Promise<string> {
    return this.#issuer.mint({ claims: { sub: way } });
  }

  /** What the operations that take a path parameter or a body need, by the name of the operation. */
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
    createEntity: async (_caller, { path }) => ({ values: path }),
    getEntity: (caller, draft) => this.#newEntity(caller, draft),
    updateEntity: (caller, draft) => this.#newEntity(caller, draft),
    deleteEntity: (caller, draft) => this.#newEntity(caller, draft),
  };

  async #newEntity({ name: owner }: Caller, { path: { name = 'note' } }: Draft): Promise<Completion> {
    const key = String(++this.#last);
    await seed(this.#service, name, key, { a: 1, b: { c: [1, 2] } }, owner);
    return { values: { name, key } };
  }

  /** A user has so many keys at most. */
  async #dropKeys(userId: string): Promise<void> {
    await sql`delete from api_key where user_id = ${userId}`.execute(this.#service.db);
  }

  async #newKey(userId: string): Promise<string> {
    await this.#dropKeys(userId);
    return (await this.#service.createKey(userId)).slice(4, 16);
  }
}
