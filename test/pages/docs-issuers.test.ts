/** The issuers on the page at /docs: where the page may connect to, and the content of its document. */
import { afterEach, expect, test } from 'vitest';
import { docsClient, TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const partner = await TestIssuer.start('partner', clock);
const tokens = await TestIssuer.start('tokens', clock);
const swaggerUi = { clientId: docsClient.id, scopes: ['api.all'], parameters: { audience: 'x' } };
const issuersFile = await writeIssuers(
  await corp.loginEntry({ label: '<b>[Corp](/)', scopes: { read: 'entities:read' } }),
  partner.entry({ swaggerUi }),
  tokens.entry(),
);
const service = useService({ ISSUERS_FILE: issuersFile }, clock);

interface Shown {
  security: Record<string, string[]>[];
  components: { securitySchemes: Record<string, { description: string; 'x-swagger-ui'?: object; flows?: { authorizationCode: object } }> };
  paths: Record<string, Record<string, { security?: Record<string, string[]>[] }>>;
}

afterEach(() => {
  for (const issuer of [corp, partner]) {
    issuer.behaviour = 'up';
    issuer.answers.clear();
  }
});

/** The sources of connect-src, and the schemes of the document. */
async function shown(by = service()): Promise<{ sources: string[]; schemes: string[]; document: Shown }> {
  const page = await by.call('GET', '/docs');
  const { status, body: document } = await by.call<Shown>('GET', '/docs/json');
  expect([page.status, status]).toEqual([200, 200]);
  const [, sources = ''] = /connect-src ([^;]+)/.exec(page.headers.get('content-security-policy') ?? '') ?? [];
  return { sources: sources.split(' '), schemes: Object.keys(document.components.securitySchemes), document };
}

test('200 — the page offers issuers for sign-in and those that know it, and may only reach their token endpoints (rule 82)', async () => {
  const { sources, schemes, document } = await shown();
  expect(sources).toEqual(["'self'", corp.url, partner.url]);
  expect(schemes).toEqual(['sessionCookie', 'apiKey', 'oauth2.corp', 'oauth2.partner']);
  expect(document.security).toEqual([{ sessionCookie: [] }, { apiKey: [] }, { 'oauth2.corp': [] }, { 'oauth2.partner': [] }]);
  expect(document.paths['/rest/entity/{name}']?.['post']?.security).toEqual([
    { apiKey: [] },
    { sessionCookie: [] },
    ...document.security.slice(2),
  ]);
  expect(document.paths['/auth']?.['post']?.security).toEqual([]);
  const { securitySchemes } = document.components;
  expect(securitySchemes['oauth2.corp']).toMatchObject({
    description: expect.stringMatching(
      /^\\<b\\>\\\[Corp\\\]\\\(\\\/\\\)\. .*\(http:\/\/localhost:3000\/auth\/oidc\/corp\/start\?return_to=\/docs\)/,
    ),
    flows: { authorizationCode: { authorizationUrl: `${corp.url}/auth`, tokenUrl: `${corp.url}/token`, scopes: { 'entities:read': '' } } },
    'x-swagger-ui': { clientId: '', scopes: ['entities:read'], additionalQueryStringParams: {} },
  });
  expect(securitySchemes['oauth2.partner']).toMatchObject({
    description: 'partner',
    'x-swagger-ui': { clientId: docsClient.id, scopes: ['api.all'], additionalQueryStringParams: { audience: 'x' } },
  });
  expect(tokens.requests).toEqual([]);

  const contract = await service().call<Shown>('GET', '/openapi.json');
  expect(Object.keys(contract.body.components.securitySchemes)).toEqual(['sessionCookie', 'apiKey', 'oauth2', 'openId']);
  const script = await service().call('GET', '/docs/static/swagger-ui-bundle.js');
  expect(script.headers.get('content-security-policy')).toContain("connect-src 'self';");
});

test('200 — an issuer that does not answer is left out until it answers again', async () => {
  clock.advance(3_601);
  corp.behaviour = 'down';
  expect(await shown()).toMatchObject({ sources: ["'self'", partner.url], schemes: ['sessionCookie', 'apiKey', 'oauth2.partner'] });
  corp.behaviour = 'up';
  clock.advance(31);
  expect((await shown()).sources).toEqual(["'self'", corp.url, partner.url]);
});

test.each(["https://a;script-src'unsafe-inline'", 'http://example.com', 'javascript:alert(1)//'])(
  '200 — an issuer with %s as its token endpoint is left out, since the page’s policy would name it too (rule 82)',
  async (address) => {
    corp.answers.set('/.well-known/openid-configuration', () => {
      return {
        issuer: corp.url,
        jwks_uri: `${corp.url}/jwks`,
        authorization_endpoint: `${corp.url}/auth`,
        token_endpoint: `${address}/token`,
      };
    });
    clock.advance(601);
    expect((await shown()).sources).toEqual(["'self'", partner.url]);
  },
);

test('200 — an unresponsive issuer delays the page only briefly', async () => {
  clock.advance(3_601);
  corp.behaviour = 'silent';
  const began = performance.now();
  expect((await shown()).sources).toEqual(["'self'", partner.url]);
  // The page and then its document wait one second each. The time limit of the issuer is five seconds.
  expect(performance.now() - began).toBeLessThan(4_500);
});
