/**
 * The settings in docs/issuers for each provider, against an issuer that answers as the provider's documentation says: its scopes and prompts,
 * its access tokens, its logout.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { BrowserSession } from '../support/browser-session.ts';
import { loginClient, TestClock, TestIssuer, writeIssuers, type IssuerOptions, type Minted } from '../support/issuer.ts';
import { useService, type TestService } from '../support/service.ts';

interface Provider {
  id: string;
  /** The file in docs/issuers. */
  file: string;
  /** How it differs from other issuers at a sign-in with a browser. */
  options?: IssuerOptions;
  /** An access token as its documentation shows it; undefined for a provider without access tokens for others. */
  token?: Minted;
  /** What its introspection answers, for opaque tokens. */
  introspected?: Record<string, unknown>;
  /** The value that identifies the user; `alice` by default. */
  subject?: string;
  /** Whether the groups in tokens give the profile of the file. */
  hasGroups?: boolean;
}

const clock = new TestClock();
const now = Math.floor(clock.wall() / 1_000);
const scoped = ['openid', 'profile', 'groups'];

const providers: Provider[] = [
  {
    id: 'okta',
    file: 'okta',
    options: { claims: { openid: { groups: ['sales-team'] } } },
    token: {
      header: { typ: undefined },
      claims: { ver: 1, cid: '0oa2', uid: '00u1', scp: ['entities:read'], client_id: undefined, scope: undefined, groups: ['sales-team'] },
    },
    hasGroups: true,
  },
  {
    id: 'duende',
    file: 'duende',
    token: { claims: { nbf: now, auth_time: now, idp: 'local', amr: ['pwd'], sid: 'A1', scope: ['openid', 'entities.read'] } },
  },
  {
    id: 'entra',
    file: 'entra-id',
    options: { scopes: ['openid', 'profile'], claims: { profile: { oid: '00000000-0000-0000-66f3-3332eca7ea81', tid: 't', ver: '2.0' } } },
    subject: '00000000-0000-0000-66f3-3332eca7ea81',
    token: {
      header: { typ: 'JWT' },
      claims: {
        aio: 'x',
        azp: '6e74',
        azpacr: '1',
        oid: '00000000-0000-0000-66f3-3332eca7ea81',
        sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
        scp: 'entities.read',
        uti: 'fqiBqXLPj0eQa82S-IYFAA',
        ver: '2.0',
        client_id: undefined,
        jti: undefined,
        scope: undefined,
      },
    },
  },
  {
    id: 'cognito',
    file: 'cognito',
    options: { claims: { openid: { 'cognito:groups': ['sales-team'] } } },
    token: {
      header: { typ: undefined },
      claims: {
        aud: undefined,
        client_id: '57cbishk4j24pabc1234567890',
        'cognito:groups': ['sales-team'],
        token_use: 'access',
        scope: 'entities/read',
        auth_time: now,
        username: 'alice',
        version: 2,
      },
    },
    hasGroups: true,
  },
  {
    id: 'hydra',
    file: 'hydra',
    token: {
      header: { typ: 'JWT' },
      claims: { aud: ['entity-service'], ext: {}, nbf: now, scp: ['entities:read', 'offline'], scope: undefined },
    },
  },
  {
    id: 'authelia',
    file: 'authelia',
    options: { scopes: scoped, claims: { groups: { groups: ['sales-team'] } } },
    introspected: {
      active: true,
      client_id: 'cli',
      scope: 'groups',
      exp: now + 300,
      iat: now,
      sub: 'alice',
      aud: ['entity-service'],
      username: 'alice',
      groups: ['sales-team'],
    },
    hasGroups: true,
  },
  {
    id: 'kanidm',
    file: 'kanidm',
    options: { alg: 'ES256', scopes: scoped, claims: { groups: { groups: ['sales-team@idm.example.com', '7d1ea2c1'] } } },
    hasGroups: true,
  },
  { id: 'dex', file: 'dex', options: { scopes: scoped, claims: { groups: { groups: ['example-org:sales'] } } }, hasGroups: true },
  { id: 'google', file: 'google', options: { prompts: ['none', 'consent', 'select_account'], scopes: ['openid', 'profile', 'email'] } },
  { id: 'apple', file: 'apple', options: { prompts: [], scopes: ['openid', 'name', 'email'], clientAuthentication: 'client_secret_post' } },
  {
    id: 'keycloak',
    file: 'keycloak',
    options: { claims: { openid: { groups: ['sales-team'] } } },
    token: { claims: { azp: 'web', typ: 'Bearer', client_id: undefined, groups: ['sales-team'], realm_access: { roles: ['user'] } } },
    hasGroups: true,
  },
  { id: 'auth0', file: 'auth0', subject: 'auth0|alice', token: { claims: { sub: 'auth0|alice' } } },
];

const issuers = new Map<string, TestIssuer>();
for (const { id, options } of providers) {
  const publicUrl = 'http://localhost:3000';
  const returns = ['okta', 'cognito'].includes(id) ? { postLogoutRedirectUri: `${publicUrl}/signed-out` } : {};
  issuers.set(id, await TestIssuer.start(id, clock, { ...options, ...returns }));
}
const issuerOf = (id: string) => issuers.get(id) ?? expect.fail(id);
const home = useService({}, clock);
let trusting: TestService;
const service = () => trusting;

/** The entry of the documentation, with the address and the client of the test's issuer. Profiles of two issuers must differ. */
async function entryOf({ id, file }: Provider): Promise<Record<string, unknown>> {
  const text = await readFile(new URL(`../../docs/issuers/${file}.yaml`, import.meta.url), 'utf8');
  const { issuers: entries } = parse(text) as { issuers: Record<string, unknown>[] };
  const { clientSecretEnv: _env, profiles, ...entry } = entries[0] ?? {};
  expect(entry['id']).toBe(id);
  const members = await issuerOf(id).loginEntry();
  const given = JSON.parse(JSON.stringify(profiles ?? null).replaceAll('"sales"', `"sales ${id}"`)) as unknown;
  const { issuer, clientId, clientSecretFile } = members;
  const audience = id === 'entra' || id === 'auth0' ? { audience: 'entity-service' } : {};
  return { ...entry, issuer, clientId, clientSecretFile, allowInsecureHttp: true, ...audience, ...(given !== null && { profiles: given }) };
}

beforeAll(async () => {
  const { id: keeper } = await home().createUser('keeper');
  for (const { id, subject = 'alice', hasGroups } of providers) {
    await home().createUser(id);
    if (hasGroups) await home().createProfile(keeper, `sales ${id}`, {});
    await home().link(issuerOf(id), subject, id);
  }
  trusting = await home().replica({ ISSUERS_FILE: await writeIssuers(...(await Promise.all(providers.map(entryOf)))) }, clock);
});
afterAll(() => trusting.close());

interface Info {
  user: { name: string };
  profiles: { name: string }[];
  authentication: { endSessionUrl: string | null };
}

describe.each(providers)('$id', ({ id, subject = 'alice', hasGroups = false }) => {
  // Entra's claim `sub` is not the one that identifies the user.
  const login = id === 'entra' ? 'pairwise-subject' : subject;

  test('303 — a sign-in with the scopes of the file, which gives the profiles of the groups', async () => {
    const browser = new BrowserSession(service());
    const answer = await browser.signIn(issuerOf(id), login);
    expect(answer.status, answer.text).toBe(303);
    const { body } = await browser.call<Info>('GET', '/auth?profiles=1');
    expect(body.user.name).toBe(id);
    expect(body.profiles.some(({ name }) => name === `sales ${id}`)).toBe(hasGroups);
  });

  test('303 — a new sign-in and the choice of an account, by the prompts that the provider knows', async () => {
    for (const wish of ['?fresh=1', '?choose=1']) {
      const browser = new BrowserSession(service());
      expect((await browser.signIn(issuerOf(id), login, wish)).status, wish).toBe(303);
    }
  });
});

const withTokens = providers.filter(({ token, introspected }) => token ?? introspected);

describe.each(withTokens)('$id', ({ id, token, introspected, hasGroups = false }) => {
  test('200 — an access token of the documentation', async () => {
    const issuer = issuerOf(id);
    if (introspected) issuer.answers.set('/token/introspection', () => introspected);
    const accessToken = token ? await issuer.mint(token) : 'authelia_at_cr4i4EtTn2F4k6mX4XzxbsBewkxCGn';
    const answer = await service().call<Info>('GET', '/auth?profiles=1', { headers: { authorization: `Bearer ${accessToken}` } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.user.name).toBe(id);
    expect(answer.body.profiles.some(({ name }) => name === `sales ${id}`)).toBe(hasGroups);
  });
});

describe('the logout at the provider', () => {
  const logoutOf = async (id: string): Promise<[URL, BrowserSession]> => {
    const browser = new BrowserSession(service());
    await browser.signIn(issuerOf(id), 'alice');
    const { body } = await browser.call<Info>('GET', '/auth');
    return [new URL(body.authentication.endSessionUrl ?? ''), browser];
  };

  test.each([
    ['okta', 'http://localhost:3000/signed-out'],
    ['duende', 'http://localhost:3000/'],
    ['hydra', 'http://localhost:3000/'],
  ])('200 — %s gets the ID token, and sends the browser to %s', async (id, target) => {
    const [url, { jar }] = await logoutOf(id);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^eyJ/);
    expect((await issuerOf(id).signOut(url.href, jar)).href).toBe(target);
  });

  test('200 — Cognito has its own page and parameter, and gets no ID token', async () => {
    const [url] = await logoutOf('cognito');
    expect(url.origin + url.pathname).toBe('https://example.auth.eu-central-1.amazoncognito.com/logout');
    expect(Object.fromEntries(url.searchParams)).toEqual({ logout_uri: 'http://localhost:3000/signed-out', client_id: loginClient.id });
  });
});
