/**
 * A real OpenID provider on the loopback address, with its own keys. Tests can switch it off, watch it, and sign with its keys. Its
 * endpoints issue tokens (`machineToken`, `signIn`). `mint` signs tokens with its key that no provider would issue. Browsers sign in at it
 * through `visit`.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { Provider, type Configuration } from 'oidc-provider';
import { afterAll } from 'vitest';
import { systemClock, type TokenClock } from '../../src/oidc/tokens/issuer-registry.ts';
import { scratchDirectory } from './scratch.ts';

/** How the issuer answers: normally, not at all, with a redirect, with more than the limit, or with nonsense. */
export type Behaviour = 'up' | 'down' | 'silent' | 'redirecting' | 'endless' | 'nonsense';

export interface SigningKey {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

export interface Minted {
  /** Replace those of a valid access token; undefined removes one. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: SigningKey;
}

const resource = 'https://entities.example';
export const audience = 'entity-service';
const client = { id: 'web', secret: 'web-secret-web-secret-web-secret-web', redirectUri: 'https://client.example/callback' };
/** The service under test as a client of the issuer, under its default PUBLIC_URL. */
export const loginClient = { id: 'entity-login', secret: 'login-secret-login-secret-login-secret' };
/** Swagger UI of the service as a client of the issuer, without a secret. */
export const docsClient = { id: 'entity-docs', resource };

/** The differences between issuers. */
export interface IssuerOptions {
  alg?: string;
  /** The only accepted method of client authentication; by default there are several. */
  clientAuthentication?: 'client_secret_post';
  /** Whether its access tokens are opaque; `loginClient` may introspect them. */
  opaque?: boolean;
  /** The service's URL as registered at the issuer; by default its default PUBLIC_URL. */
  publicUrl?: string;
  /** The URL for logout tokens. */
  backchannelLogoutUri?: string;
  /** Where it sends browsers after a logout; by default the root of the service. */
  postLogoutRedirectUri?: string;
  /** The values of `prompt` that it knows, as Google does; others are refused. */
  prompts?: readonly string[];
  /** The scopes that it knows, as Dex does; others are refused. */
  scopes?: readonly string[];
  /** Further claims in its ID tokens, by the scope that they need. */
  claims?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export class TestIssuer {
  readonly url: string;
  readonly id: string;
  /** The paths of its requests. */
  readonly requests: string[] = [];
  behaviour: Behaviour = 'up';
  /** Answers that replace its own at some paths: JSON, or a whole response. */
  readonly answers = new Map<string, () => object | Promise<object>>();
  key: SigningKey;
  /** The secrets of `loginClient` that it accepts, by HTTP Basic. Most providers accept two at once, while one replaces the other. */
  secrets: string[] = [loginClient.secret];
  readonly options: IssuerOptions;
  readonly #server: Server;
  readonly #clock: TokenClock;
  #handler: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;

  private constructor(id: string, server: Server, key: SigningKey, clock: TokenClock = systemClock, options: IssuerOptions = {}) {
    this.id = id;
    this.options = options;
    this.#clock = clock;
    this.#server = server;
    this.key = key;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => this.#answer(request, response));
  }

  /** Call at the top of a test file: the issuer is closed after its tests. `clock` is the time for `mint`. */
  static async start(id: string, clock?: TokenClock, options: IssuerOptions = {}): Promise<TestIssuer> {
    const server = createServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await promise;
    const issuer = new TestIssuer(id, server, await newKey(options.alg), clock, options);
    issuer.publish([issuer.key]);
    afterAll(() => issuer.close());
    return issuer;
  }

  /** Restarts the provider with these keys. */
  publish(keys: SigningKey[]): void {
    const provider = new Provider(this.url, configuration(keys, this.id, this.options));
    const callback = provider.callback();
    this.#handler = (request, response) => void callback(request, response);
  }

  /** Replaces the signing key. */
  async rotate(): Promise<void> {
    this.key = await newKey(this.options.alg);
    this.publish([this.key]);
  }

  /** Its entry in ISSUERS_FILE. */
  entry(members: Record<string, unknown> = {}): Record<string, unknown> {
    return { id: this.id, issuer: this.url, audience, algorithms: ['RS256'], allowInsecureHttp: true, ...members };
  }

  /** Its entry in ISSUERS_FILE as a provider to sign in at. */
  async loginEntry(members: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const directory = await scratchDirectory('secret');
    const clientSecretFile = join(directory, 'secret');
    await writeFile(clientSecretFile, `${loginClient.secret}\n`);
    return this.entry({ clientId: loginClient.id, clientSecretFile, algorithms: [this.key.alg], ...members });
  }

  /** The number of introspection requests. */
  get introspections(): number {
    return this.requests.filter((path) => path === '/token/introspection').length;
  }

  /** The number of requests for its keys. */
  get keyRequests(): number {
    return this.requests.filter((path) => path === '/jwks').length;
  }

  /** An access token signed with the issuer's key: valid for the subject `alice`, except for the given claims, header and key. */
  mint({ claims = {}, header = {}, key = this.key }: Minted = {}): Promise<string> {
    const now = Math.floor(this.#clock.wall() / 1_000);
    const payload = {
      iss: this.url,
      sub: 'alice',
      aud: audience,
      client_id: client.id,
      jti: randomUUID(),
      iat: now,
      exp: now + 300,
      scope: 'entities:read entities:write',
      ...claims,
    };
    return new SignJWT(JSON.parse(JSON.stringify(payload)) as JWTPayload)
      .setProtectedHeader(JSON.parse(JSON.stringify({ alg: key.alg, typ: 'at+jwt', kid: key.kid, ...header })))
      .sign(key.privateKey);
  }

  /** A token of the client itself, whose subject is the client's id. Without a resource it is opaque and has no audience. */
  async machineToken(scope: string, withResource = true): Promise<string> {
    const answer = await this.#post('/token', { grant_type: 'client_credentials', scope, ...(withResource && { resource }) });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  /** Signs `login` in with a browser's steps: authorization code, PKCE, consent. */
  async signIn(login: string, scope = 'openid entities:read entities:write'): Promise<{ accessToken: string; idToken: string }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: client.id,
      redirect_uri: client.redirectUri,
      response_type: 'code',
      scope,
      resource,
      nonce: randomUUID(),
      state: randomUUID(),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const answer = await this.visit(`${this.url}/auth?${query.toString()}`, login);
    const code = answer.searchParams.get('code') ?? '';
    const response = await this.#post('/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      code_verifier: verifier,
      resource,
    });
    const tokens = (await response.json()) as { access_token: string; id_token: string };
    return { accessToken: tokens.access_token, idToken: tokens.id_token };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    await promise;
  }

  /**
   * The steps of a browser with the cookies in `jar` at the issuer, from this address on: log in as `login` or cancel, and consent. Returns
   * the address that the issuer then redirects to.
   */
  async visit(address: string, login: string, { jar = new Map<string, string>(), cancel = false } = {}): Promise<URL> {
    let location = new URL(address);
    let form: Record<string, string> | undefined;
    for (let hop = 0; hop < 12; hop++) {
      const response = await fetch(location, {
        redirect: 'manual',
        headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      const page = await response.text();
      const next = response.headers.get('location');
      if (next) location = new URL(next, this.url);
      else if (cancel) location = new URL(`${location.pathname}/abort`, this.url);
      if (location.origin !== this.url) return location;
      const prompt = page.includes('name="login"') ? { prompt: 'login', login, password: 'any' } : { prompt: 'consent' };
      form = next || cancel ? undefined : prompt;
    }
    throw new Error('the issuer did not redirect the browser back');
  }

  /** Signs out at the issuer, from this address on, by the form of its page. Returns the address that the issuer then redirects to. */
  async signOut(address: string, jar: Map<string, string>): Promise<URL> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await (await fetch(address, { headers: { cookie } })).text();
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? [];
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
    const answer = await fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    });
    return new URL(answer.headers.get('location') ?? '');
  }

  #post(path: string, form: Record<string, string>): Promise<Response> {
    const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
    return fetch(this.url + path, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(path);
    const answer = this.behaviour === 'up' ? this.answers.get(path) : undefined;
    if (answer) {
      void this.#answerWith(answer, response);
      return;
    }
    switch (this.behaviour) {
      case 'up': {
        const refusal = this.#refuseSignIn(request);
        if (refusal) return void response.writeHead(303, { location: refusal }).end();
        this.#translateSecret(request.headers);
        return this.#handler(request, response);
      }
      case 'down':
        return void request.socket.destroy();
      case 'silent':
        return;
      case 'redirecting':
        return void response.writeHead(302, { location: `${this.url}/elsewhere` }).end();
      case 'endless':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"keys":[],"a":"${'a'.repeat(300_000)}"}`);
      case 'nonsense':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":1}');
    }
  }

  /**
   * Where a browser goes whose request has a scope or a prompt that the issuer does not know; undefined for every other request. The choice
   * of an account is left out, since oidc-provider has no page for it.
   */
  #refuseSignIn(request: IncomingMessage): string | undefined {
    const url = new URL(request.url ?? '', this.url);
    if (url.pathname !== '/auth' || !url.searchParams.has('redirect_uri')) return undefined;
    const valuesOf = (name: string) => (url.searchParams.get(name) ?? '').split(' ').filter(Boolean);
    const { prompts, scopes } = this.options;
    const isPromptUnknown = prompts && valuesOf('prompt').some((prompt) => !prompts.includes(prompt));
    const isScopeUnknown = scopes && valuesOf('scope').some((scope) => !scopes.includes(scope));
    if (isPromptUnknown || isScopeUnknown) {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      const error = isScopeUnknown ? 'invalid_scope' : 'invalid_request';
      for (const [name, value] of Object.entries({ error, state: url.searchParams.get('state') ?? '', iss: this.url }))
        back.searchParams.set(name, value);
      return back.href;
    }
    const left = valuesOf('prompt').filter((prompt) => prompt !== 'select_account');
    if (left.length > 0) url.searchParams.set('prompt', left.join(' '));
    else url.searchParams.delete('prompt');
    request.url = url.pathname + url.search;
    return undefined;
  }

  /** oidc-provider knows one secret for each client. */
  #translateSecret(headers: IncomingMessage['headers']): void {
    const [, encoded = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
    const [id, secret = ''] = Buffer.from(encoded, 'base64').toString().split(':');
    if (id !== encodeURIComponent(loginClient.id).replaceAll('-', '%2D')) return;
    const accepted = this.secrets.includes(decodeURIComponent(secret)) ? loginClient.secret : 'none';
    headers.authorization = `Basic ${Buffer.from(`${loginClient.id}:${accepted}`).toString('base64')}`;
  }

  async #answerWith(answer: () => object | Promise<object>, response: ServerResponse): Promise<void> {
    const body = await answer();
    if (body instanceof Response) {
      response.writeHead(body.status, Object.fromEntries(body.headers)).end(await body.text());
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
}

export async function newKey(alg = 'RS256', kid: string = randomUUID()): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(privateKey)), alg, kid, use: 'sig' } };
}

/** Writes an ISSUERS_FILE and returns its path. */
export async function writeIssuers(...entries: Record<string, unknown>[]): Promise<string> {
  return await writeIssuersText(JSON.stringify({ issuers: entries }));
}

export async function writeIssuersText(text: string): Promise<string> {
  const directory = await scratchDirectory('issuers');
  const file = join(directory, 'issuers.yaml');
  await writeFile(file, text);
  return file;
}

/**
 * The present time, until a test moves it. The steady clock, which measures durations, stands still however long the test takes. The wall
 * clock runs on, as the issuer's does.
 */
export class TestClock implements TokenClock {
  #elapsed = 0;
  readonly wall = () => Date.now() + this.#elapsed;
  readonly steady = () => this.#elapsed;

  advance(seconds: number): void {
    this.#elapsed += seconds * 1_000;
  }
}

function configuration(keys: SigningKey[], id: string, options: IssuerOptions): Configuration {
  const { alg = 'RS256', clientAuthentication, opaque = false, publicUrl = 'http://localhost:3000', backchannelLogoutUri } = options;
  const { postLogoutRedirectUri = `${publicUrl}/`, scopes = [], claims = {} } = options;
  return {
    ...(clientAuthentication && { clientAuthMethods: [clientAuthentication] }),
    jwks: { keys: keys.map(({ jwk }) => jwk) },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['authorization_code', 'client_credentials'],
        response_types: ['code'],
        redirect_uris: [client.redirectUri],
        ...(clientAuthentication && { token_endpoint_auth_method: clientAuthentication }),
        id_token_signed_response_alg: alg as 'RS256',
      },
      {
        client_id: loginClient.id,
        client_secret: loginClient.secret,
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: [`${publicUrl}/auth/oidc/${id}/callback`],
        post_logout_redirect_uris: [postLogoutRedirectUri],
        ...(clientAuthentication && { token_endpoint_auth_method: clientAuthentication }),
        id_token_signed_response_alg: alg as 'RS256',
        ...(backchannelLogoutUri && { backchannel_logout_uri: backchannelLogoutUri, backchannel_logout_session_required: true }),
      },
      {
        client_id: docsClient.id,
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: [`${publicUrl}/docs/static/oauth2-redirect.html`],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: alg as 'RS256',
      },
    ],
    clientBasedCORS: (_context, origin, { clientId }) => origin === publicUrl && clientId === docsClient.id,
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...Object.assign({}, ...Object.values(claims)) }) }),
    scopes: [...new Set(['openid', 'entities:read', 'entities:write', ...scopes])],
    claims: { openid: ['sub'], ...Object.fromEntries(Object.entries(claims).map(([scope, names]) => [scope, Object.keys(names)])) },
    // Many providers send all claims in the ID token.
    conformIdTokenClaims: Object.keys(claims).length === 0,
    pkce: { required: () => true },
    // The provider's own dispatcher refuses to connect to this machine, where the service under test runs.
    fetch: (url, { dispatcher: _dispatcher, ...init } = {}) => fetch(url, init),
    ttl: { AccessToken: 300, ClientCredentials: 300, IdToken: 300, Session: 300, Grant: 300, Interaction: 300 },
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: backchannelLogoutUri !== undefined },
      rpInitiatedLogout: { enabled: true, logoutSource: (context, form) => void (context.body = form) },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_context, { clientId }) => clientId === loginClient.id },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'entities:read entities:write',
          audience,
          accessTokenFormat: opaque ? 'opaque' : 'jwt',
          jwt: { sign: { alg: alg as 'RS256' } },
        }),
      },
    },
  };
}
