/** ISSUERS_FILE: what it contains, and what stops the start. */
import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/config/secrets.ts';
import { ConfigError } from '../../src/config/settings.ts';
import { readIssuers } from '../../src/oidc/issuers-file/read.ts';
import { writeIssuersText } from '../support/issuer.ts';
import { TestService } from '../support/service.ts';

const corp = { id: 'corp', issuer: 'https://login.example.com', audience: 'entity-service', algorithms: ['RS256'] };

/** The problems of a file with this text, each with its line and column. */
async function locatedProblemsOf(text: string, environment: Record<string, string> = {}): Promise<string[]> {
  const file = await writeIssuersText(text);
  try {
    await readIssuers(file, environment);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems.map((problem) => {
      expect(problem.startsWith(`ISSUERS_FILE ${file}:`), problem).toBe(true);
      return problem.slice(`ISSUERS_FILE ${file}:`.length);
    });
  }
}

/** The problems without line and column. */
const problemsOf = async (...file: Parameters<typeof locatedProblemsOf>) =>
  (await locatedProblemsOf(...file)).map((problem) => problem.replace(/^\d+:\d+: /, ''));

const problemsOfEntry = (members: Record<string, unknown>, environment?: Record<string, string>) =>
  problemsOf(stringify({ issuers: [{ ...corp, ...members }] }), environment);

describe('an accepted file', () => {
  test('the example of the documentation, in YAML', async () => {
    const file = await writeIssuersText(`
issuers:
  - id: corp                          # used in paths and in oidcIssuer
    label: Corporate login
    issuer: https://login.example.com
    audience: entity-service
    clientId: entity-service
    clientSecretEnv: CORP_SECRET
    algorithms: [RS256]
    tokenType: at+jwt
    scopes: { read: entities:read, write: entities:write }
    provision: { enabled: false, profile: member }
    allowInsecureHttp: false
`);
    const issuers = await readIssuers(file, { CORP_SECRET: 'a secret from the environment, 40 bytes' });
    expect(issuers[0]?.clientSecret?.current.reveal()).toBe('a secret from the environment, 40 bytes');
    expect(issuers).toEqual([
      {
        id: 'corp',
        label: 'Corporate login',
        issuer: 'https://login.example.com',
        audience: 'entity-service',
        clientId: 'entity-service',
        clientSecret: { current: expect.any(Secret) },
        clientSecretFile: undefined,
        clients: undefined,
        algorithms: ['RS256'],
        tokenType: 'at+jwt',
        claimNames: { client_id: 'client_id', jti: 'jti', scope: 'scope', sub: 'sub' },
        allowMissingAudience: false,
        scopes: { read: 'entities:read', write: 'entities:write' },
        provision: undefined,
        profiles: undefined,
        rights: new Map(),
        swaggerUi: undefined,
        discoveryUrl: undefined,
        optionalMembers: new Set(),
        signInScopes: undefined,
        prompts: { signIn: [], fresh: ['login'], choose: ['select_account'] },
        logoutPage: {
          endpoint: undefined,
          returnTo: undefined,
          returnParameter: 'post_logout_redirect_uri',
          idTokenHint: false,
          allowMissingExpiry: false,
        },
        allowInsecureHttp: false,
      },
    ]);
  });

  test('the profile of new users, and those by a claim, in the order of the file', async () => {
    const entry = {
      ...corp,
      provision: { enabled: true, profile: 'member' },
      profiles: { claim: ['realm_access', 'roles'], map: { z: 'sales', a: 'audit' } },
    };
    const [issuer] = await readIssuers(await writeIssuersText(stringify({ issuers: [entry] })), {});
    expect(issuer?.provision).toEqual({ profile: 'member' });
    expect(issuer?.profiles?.claim).toEqual(['realm_access', 'roles']);
    expect([...(issuer?.profiles?.map ?? [])]).toEqual([
      ['z', 'sales'],
      ['a', 'audit'],
    ]);
  });

  test('Swagger UI as a separate client', async () => {
    const swaggerUi = { clientId: 'docs', scopes: ['all'], parameters: { resource: 'https://api.example.com' } };
    const [issuer, other] = await readIssuers(
      await writeIssuersText(
        stringify({
          issuers: [
            { ...corp, swaggerUi },
            { ...corp, id: 'b', issuer: 'https://b.example', swaggerUi: { clientId: 'docs' } },
          ],
        }),
      ),
      {},
    );
    expect(issuer?.swaggerUi).toEqual(swaggerUi);
    expect(other?.swaggerUi).toEqual({ clientId: 'docs', scopes: undefined, parameters: {} });
  });

  test('JSON, and the shortest entry there is', async () => {
    const [issuer] = await readIssuers(await writeIssuersText(JSON.stringify({ issuers: [corp] })), {});
    expect(issuer).toMatchObject({ label: 'corp', tokenType: 'at+jwt', scopes: undefined, clientId: undefined, clientSecret: undefined });
  });

  test('a secret from a file, without the line end', async () => {
    const secret = await writeIssuersText('');
    await writeFile(secret, 'a secret from a file, without its line end\n');
    const [issuer] = await readIssuers(await writeIssuersText(stringify({ issuers: [{ ...corp, clientSecretFile: secret }] })), {});
    expect(issuer?.clientSecret?.current.reveal()).toBe('a secret from a file, without its line end');
  });

  test('no file and an empty list: no issuer is trusted', async () => {
    expect(await readIssuers(undefined, {})).toEqual([]);
    expect(await readIssuers(await writeIssuersText('issuers: []'), {})).toEqual([]);
  });
});

describe('the check of a file', () => {
  test('reports all problems at once, with issuer and member', async () => {
    const file = {
      issuers: [
        { ...corp, audience: undefined, algorithms: ['HS256', 'none'] },
        { id: 'other', issuer: 'http://a.example' },
      ],
    };
    expect(await problemsOf(stringify(file))).toEqual([
      'issuer "corp": audience is required',
      expect.stringMatching(/^issuer "corp": algorithms: "HS256" is not accepted, only RS256, /),
      expect.stringMatching(/^issuer "corp": algorithms: "none" is not accepted, only RS256, /),
      'issuer "other": issuer must be https, or plain http on localhost with allowInsecureHttp: true',
      'issuer "other": audience is required',
      'issuer "other": algorithms is required',
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      'an unknown member, since a mistyped limit would have no effect',
      { audiences: ['a'] },
      'audiences is not known here; known are algorithms, ',
    ],
    ['an unknown member inside another', { scopes: { read: 'r', delete: 'd' } }, 'scopes: delete is not known here; known are read, write'],
    ['an id with capitals', { id: 'Corp' }, 'id must be 1 to 32 lower case letters, digits and hyphens, not "Corp"'],
    ['an id of 33 characters', { id: 'a'.repeat(33) }, 'id must be 1 to 32 '],
    ['a label of 101 characters', { label: 'a'.repeat(101) }, 'label must be 1 to 100 characters'],
    ['a label with a control character', { label: 'a\u0007' }, 'label must be 1 to 100 characters'],
    ['a label that begins with one', { label: '\u0007a' }, 'label must be 1 to 100 characters'],
    ['a number in place of text', { clientId: 42 }, 'clientId must be text: put it in quotes'],
    ['an empty member', { audience: null }, 'audience is empty'],
    ['no algorithms (rule 86)', { algorithms: [] }, 'algorithms must be a list of at least 1 text'],
    [
      'plain http without allowInsecureHttp (rule 86)',
      { issuer: 'http://127.0.0.1:9' },
      'issuer must be https, or plain http on localhost',
    ],
    [
      'plain http elsewhere',
      { issuer: 'http://login.example.com', allowInsecureHttp: true },
      'allowInsecureHttp is for an issuer on localhost only',
    ],
    ['allowInsecureHttp with https', { allowInsecureHttp: true }, 'allowInsecureHttp is for an issuer on localhost only'],
    ['an issuer with a query', { issuer: 'https://a.example/?b' }, 'issuer must be a URL without query, fragment and credentials'],
    ['an issuer with a password', { issuer: 'https://a:b@c.example' }, 'issuer must be a URL without query, fragment and credentials'],
    ['text that is no URL', { issuer: 'accounts.example.com' }, 'issuer must be a URL without query, fragment and credentials'],
    ['a secret in two places', { clientSecretEnv: 'A', clientSecretFile: 'b' }, 'clientSecretEnv and clientSecretFile are both given'],
    ['a secret in a variable that is not set', { clientSecretEnv: 'A' }, 'clientSecretEnv names A, which is not set'],
    [
      'a secret file that does not exist',
      { clientSecretFile: '/nonexistent/secret' },
      'clientSecretFile of corp /nonexistent/secret: cannot be read: ENOENT',
    ],
    ['a scope that is two', { scopes: { read: 'a b' } }, 'scopes: read must be one scope, without spaces'],
    ['no scopes in scopes', { scopes: {} }, 'scopes must name the scope for read, for write, or for both'],
    ['scopes that are not a mapping', { scopes: ['read'] }, 'scopes: must be a mapping'],
    ['tokenType: jwt without a client id to recognise ID tokens', { tokenType: 'jwt' }, 'clientId is required with tokenType: jwt'],
    [
      'tokenType: jwt whose tokens would all be taken for ID tokens',
      { tokenType: 'jwt', clientId: 'entity-service' },
      'audience must not be the clientId',
    ],
    ...['saml', 'a-jwt', 'jwts', 'opaque '].map((tokenType): [string, Record<string, unknown>, string] => [
      `an unknown token type (${tokenType})`,
      { tokenType },
      `tokenType must be at+jwt, jwt or opaque, not "${tokenType}"`,
    ]),
    [
      'opaque tokens without a client for introspection',
      { tokenType: 'opaque' },
      'clientId and a secret are required with tokenType: opaque',
    ],
    [
      'opaque tokens without a secret for introspection',
      { tokenType: 'opaque', clientId: 'entity-login' },
      'clientId and a secret are required with tokenType: opaque',
    ],
    ...[
      ['an address of discovery that is no URL', 'keycloak:8080', 'discoveryUrl must be a URL without fragment and credentials'],
      ['an address of discovery with a password', 'https://a:b@keycloak.example/', 'discoveryUrl must be a URL without fragment'],
      ['an address of discovery by plain http', 'http://keycloak:8080/', 'discoveryUrl must be https, or plain http on localhost'],
    ].map(([what = '', discoveryUrl, problem = '']): [string, Record<string, unknown>, string] => [what, { discoveryUrl }, problem]),
    [
      'plain http to a host of the Internet',
      { discoveryUrl: 'http://login.example.com/', allowInsecureHttp: true },
      'allowInsecureHttp is for an issuer on localhost only',
    ],
    ['scopes of sign-ins without openid', { signInScopes: ['profile'] }, 'signInScopes must contain openid'],
    ['a scope of sign-ins that is two', { signInScopes: ['openid', 'a b'] }, 'signInScopes: "a b" must be one scope'],
    ['scopes of sign-ins as text', { signInScopes: 'openid' }, 'signInScopes must be a list'],
    ['a refresh token (rule 55)', { signInScopes: ['openid', 'offline_access'] }, 'signInScopes: offline_access requests a refresh token'],
    ['a prompt that shows no page', { prompt: { fresh: ['none'] } }, 'prompt: fresh: none shows the user no page'],
    ['a prompt with a space', { prompt: { signIn: ['login consent'] } }, 'prompt: signIn: "login consent" must be one value'],
    ['a prompt as text', { prompt: { fresh: 'select_account' } }, 'prompt: fresh must be a list'],
    ['an unknown prompt', { prompt: { always: ['login'] } }, 'prompt: always is not known here; known are choose, fresh, signIn'],
    ...['javascript:alert(1)', 'http://app.example.com/', '//app.example.com', 'bye', 'https://a:b@c.example/'].map(
      (returnTo): [string, Record<string, unknown>, string] => [
        `a logout that leads to ${returnTo} (rule 54)`,
        { logout: { returnTo } },
        'logout: returnTo must be an https URL, or a path',
      ],
    ),
    ['a page for the logout by plain http', { logout: { endpoint: 'http://a.example/logout' } }, 'logout: endpoint must be an https URL'],
    ['a parameter of the logout with a meaning', { logout: { returnParameter: 'client_id' } }, 'client_id has another meaning'],
    ['introspection of signed tokens', { introspection: { mayLack: ['iss'] } }, 'introspection is for tokenType: opaque only'],
    ['introspection without active', { introspection: { mayLack: ['active'] } }, 'introspection: mayLack: "active" is not accepted'],
    [
      'introspection that could not tell a refresh token (rule 50)',
      { introspection: { mayLack: ['token_type'] }, allowMissingAudience: true, clients: ['a'] },
      'a token without both token_type and aud may be a refresh token',
    ],
    ...['email', 'preferred_username', 'upn'].map((sub): [string, Record<string, unknown>, string] => [
      `a subject that can become another person's: ${sub} (rule 56)`,
      { claimNames: { sub } },
      `claimNames: sub: "${sub}" can become another person's`,
    ]),
    ['allowMissingAudience for all clients', { allowMissingAudience: true }, 'clients is required with allowMissingAudience'],
    [
      'a claim that cannot have another name',
      { claimNames: { exp: 'ends' } },
      'claimNames: exp is not known here; known are client_id, jti, scope, sub',
    ],
    ...['\u00e9a', 'a\u00e9', 'a'.repeat(257)].flatMap((text): [string, Record<string, unknown>, string][] => [
      [`an audience that is ${text.slice(0, 3)}`, { audience: text }, 'audience must be 1 to 256 printable ASCII characters'],
      [`a clientId that is ${text.slice(0, 3)}`, { clientId: text }, 'clientId must be 1 to 256 printable ASCII characters'],
      [
        `a client of Swagger UI that is ${text.slice(0, 3)}`,
        { swaggerUi: { clientId: text } },
        'swaggerUi: clientId must be 1 to 256 printable ASCII characters',
      ],
    ]),
    ['Swagger UI without a client', { swaggerUi: { scopes: ['a'] } }, 'swaggerUi: clientId is required'],
    [
      'Swagger UI with a secret, which the page would disclose',
      { swaggerUi: { clientId: 'docs', clientSecret: 'x' } },
      'swaggerUi: clientSecret is not known here; known are clientId, parameters, scopes',
    ],
    [
      'Swagger UI with a parameter that it sends anyway',
      { swaggerUi: { clientId: 'docs', parameters: { state: 'x' } } },
      'swaggerUi: parameters: state is what Swagger UI says by itself: remove it',
    ],
    [
      'Swagger UI with a number',
      { swaggerUi: { clientId: 'docs', parameters: { a: 1 } } },
      'swaggerUi: parameters: a must be text: put it in quotes',
    ],
    ['provisioning without a profile', { provision: { enabled: true } }, 'provision: profile is required'],
    ...['a/b', 'a/', '/a', 'a'.repeat(65)].map((profile): [string, Record<string, unknown>, string] => [
      `an invalid profile name (${profile.slice(0, 3)})`,
      { provision: { enabled: true, profile } },
      'provision: profile must be the name of a profile',
    ]),
    ['profiles without a claim', { profiles: { map: { a: 'b' } } }, 'profiles: claim is required'],
    [
      'profiles by a claim without a name',
      { profiles: { claim: [], map: { a: 'b' } } },
      'profiles: claim must be a list of at least 1 text',
    ],
    ['profiles without a map', { profiles: { claim: 'groups' } }, 'profiles: map is required'],
    ['profiles without values', { profiles: { claim: 'groups', map: {} } }, 'profiles: map must name a profile for at least one value'],
    ['profiles that are lists', { profiles: { claim: 'groups', map: { a: ['b'] } } }, 'profiles: map: a must be text'],
    ['yes in place of true', { allowInsecureHttp: 'yes' }, 'allowInsecureHttp must be true or false'],
  ])('%s', async (_what, members, problem) => {
    const problems = await problemsOfEntry(members);
    expect(problems.map((line) => line.replace(/^(issuer "corp"|entry 1): /, ''))).toContainEqual(expect.stringContaining(problem));
  });

  test('refuses a client secret under 32 bytes, with line, issuer and member, from all sources (rule 86)', async () => {
    const secretFile = await writeIssuersText(`${'f'.repeat(31)}\n`);
    const entries = (secret: string) => `issuers:
  - ${JSON.stringify({ ...corp, clientId: 'a' }).slice(0, -1)},
     clientSecretEnv: ${secret}}
  - ${JSON.stringify({ ...corp, id: 'b', issuer: 'https://b.example' }).slice(0, -1)},
     clientSecretFile: ${secretFile}}
`;
    const more = 'let the provider make a secret of 32 or more';
    expect(await locatedProblemsOf(entries('SHORT'), { SHORT: 'e'.repeat(31) })).toEqual([
      `3:23: issuer "corp": SHORT, which clientSecretEnv names, has 31 bytes: ${more}`,
      `5:24: issuer "b": clientSecretFile of b ${secretFile} has 31 bytes: ${more}`,
    ]);
    await writeFile(secretFile, `${'f'.repeat(32)}\n`);
    expect(await locatedProblemsOf(entries('LONG'), { LONG: 'e'.repeat(32) })).toEqual([]);
  });

  test('refuses plain http in production, and accepts the same file elsewhere (rule 86)', async () => {
    const local = { issuer: 'http://localhost:8080', allowInsecureHttp: true };
    expect(await problemsOfEntry(local, { NODE_ENV: 'development' })).toEqual([]);
    expect(await problemsOfEntry(local, { NODE_ENV: 'production' })).toEqual([
      'issuer "corp": allowInsecureHttp is not for production (NODE_ENV=production): remove it',
    ]);
  });

  test('refuses two issuers with one id, and two ids for one issuer', async () => {
    expect(await problemsOf(stringify({ issuers: [corp, corp] }))).toEqual([
      'issuer "corp": id "corp" is another issuer\'s already',
      'issuer "corp": issuer "https://login.example.com" is another issuer\'s already',
    ]);
  });

  test('refuses two issuers that assign and remove one profile, since each would undo the changes of the other', async () => {
    const profiles = { claim: 'groups', map: { a: 'sales' } };
    const other = { ...corp, id: 'other', issuer: 'https://other.example.com', profiles };
    expect(await problemsOf(stringify({ issuers: [{ ...corp, profiles }, other] }))).toEqual([
      'issuer "other": profiles: "sales" is given and taken by issuer "corp" already',
    ]);
  });

  test('accepts two issuers that differ in a final slash only', async () => {
    expect(await problemsOf(stringify({ issuers: [corp, { ...corp, id: 'slash', issuer: `${corp.issuer}/` }] }))).toEqual([]);
  });

  test.each([
    ['text', 'hello', 'must be a mapping of names to values'],
    ['nothing', '', 'must be a mapping of names to values'],
    ['a list', '- a', 'must be a mapping of names to values'],
    ['an entry that is text', 'issuers: [corp]', 'entry 1: must be a mapping of names to values'],
    ['issuers that are not a list', 'issuers: { a: b }', 'issuers must be a list'],
    ['a member besides issuers', 'issuers: []\nother: 1', 'other is not known here; known are issuers'],
    ['a duplicate member', 'issuers: []\nissuers: []', 'is neither YAML nor JSON: Map keys must be unique'],
    ['broken JSON', '{"issuers": [', 'is neither YAML nor JSON: '],
    ['unknown tags', 'issuers: !!js/function x', 'is neither YAML nor JSON: Unresolved tag'],
  ])('refuses a file with %s', async (_what, text, problem) => {
    expect((await problemsOf(text))[0]).toContain(problem);
  });

  test('reports each problem with its line and column, counted from one', async () => {
    const text = `# trusted issuers
issuers:
  - id: corp
    issuer: https://login.example.com
    audience:
    algorithms: [RS256, HS256]
    scopes: { read: entities:read, wirte: entities:write }
    provision:
      enabled: true
  - id: corp
    issuer: http://a.example
    audience: 7
    algorithms: &some [ES256]
    clients: *some
    label: [a]
`;
    expect(await locatedProblemsOf(text)).toEqual([
      '5:5: issuer "corp": audience is empty',
      expect.stringMatching(/^6:25: issuer "corp": algorithms: "HS256" is not accepted, /),
      '7:36: issuer "corp": scopes: wirte is not known here; known are read, write',
      '9:7: issuer "corp": provision: profile is required',
      '15:12: issuer "corp": label must be text',
      expect.stringMatching(/^11:13: issuer "corp": issuer must be https, /),
      '12:15: issuer "corp": audience must be text: put it in quotes',
      '10:9: issuer "corp": id "corp" is another issuer\'s already',
    ]);
  });

  test.each([
    ['YAML', 'issuers:\n  - id: a\n   label: b\n', '3:'],
    ['JSON', '{\n  "issuers": [\n    { "id": "corp" "label": "b" }\n  ]\n}\n', '3:'],
    ['a duplicate member', 'issuers: []\nissuers: []', '2:1: '],
    ['an empty file', '', '1:1: '],
  ])('also reports line and column when the file cannot be parsed: %s', async (_what, text, place) => {
    expect((await locatedProblemsOf(text))[0]?.startsWith(place)).toBe(true);
  });

  test('reports a missing file before anything is opened', async () => {
    await expect(TestService.start({ ISSUERS_FILE: '/nonexistent/issuers.yaml' })).rejects.toThrow(
      'ISSUERS_FILE /nonexistent/issuers.yaml: cannot be read: ENOENT',
    );
  });
});

describe('rights', () => {
  test.each<[Record<string, unknown>, string[]]>([
    [{ regions: { claim: 'groups', type: 'array' }, level: { claim: ['a', 'b'], type: 'number' } }, []],
    [{ regions: { claim: 'groups' } }, ['issuer "corp": rights: regions: type is required']],
    [
      { regions: { claim: 'groups', type: 'list' } },
      ['issuer "corp": rights: regions: type must be one of string, number, boolean, array, not "list"'],
    ],
    [{ regions: { type: 'array' } }, ['issuer "corp": rights: regions: claim is required']],
    [
      { regions: { claim: 'groups', type: 'array', map: {} } },
      ['issuer "corp": rights: regions: map is not known here; known are claim, type'],
    ],
    [
      { name: { claim: 'name', type: 'string' } },
      ['issuer "corp": rights: "name" is no name for rules: letters, digits, "_" and "-", the first of them a letter'],
    ],
  ])('%j', async (rights, problems) => {
    expect(await problemsOfEntry({ rights })).toEqual(problems);
  });

  test('a claim has one type at all issuers', async () => {
    const entry = (id: string, type: string) => ({
      ...corp,
      id,
      issuer: `https://${id}.example.com`,
      rights: { team: { claim: 'team', type } },
    });
    const read = (second: string) => problemsOf(stringify({ issuers: [entry('one', 'string'), entry('two', second)] }));
    expect(await read('string')).toEqual([]);
    expect(await read('array')).toEqual(['issuer "two": rights: "team" has another type than at issuer "one", and rules need one']);
  });
});
