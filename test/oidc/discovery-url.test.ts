/** The address of discovery, the name of the issuer that is found there, and the clock of the issuer, as `doctor` reports them. */
import { expect, test } from 'vitest';
import { runChecks } from '../../src/cli/doctor.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const inside = await TestIssuer.start('corp');
// Its name for browsers and tokens; nothing answers there.
const name = 'http://localhost:1/realms/example';
const service = useService();
const discoveryUrl = `${inside.url}/inside?realm=example`;
const path = '/inside?realm=example';
const document = (issuer = name) => ({
  issuer,
  jwks_uri: `${inside.url}/jwks`,
  authorization_endpoint: `${name}/auth`,
  token_endpoint: `${inside.url}/token`,
});

async function doctor(entry: Record<string, unknown>): Promise<string[]> {
  const environment = { DATABASE_URL: service().databaseUrl, ISSUERS_FILE: await writeIssuers(inside.entry(entry)) };
  return (await runChecks(() => environment))
    .filter(({ name: check }) => check.startsWith('issuer '))
    .map(({ status, message }) => `${status} ${message}`);
}

test('200 — a token of an issuer whose metadata are fetched from another address', async () => {
  inside.answers.set(path, () => document());
  const entry = inside.entry({ issuer: name, discoveryUrl });
  const replica = await service().replica({ ISSUERS_FILE: await writeIssuers(entry) });
  try {
    await replica.createUser('ada');
    await replica.link({ url: name }, 'alice', 'ada');
    const bear = async (claims: Record<string, unknown>) =>
      (await replica.call('GET', '/auth', { headers: { authorization: `Bearer ${await inside.mint({ claims })}` } })).status;
    expect(await bear({ iss: name })).toBe(200);
    expect(await bear({ iss: inside.url }), 'the address is no issuer').toBe(401);
  } finally {
    await replica.close();
  }
});

test('fail — the metadata name another issuer, which the finding names', async () => {
  inside.answers.set(path, () => document('http://keycloak:8080/realms/example'));
  expect(await doctor({ issuer: name, discoveryUrl })).toEqual([
    `fail ${name} does not give its keys: it calls itself http://keycloak:8080/realms/example`,
  ]);
});

test.each(['{}', '{"issuer":7}', '[]', 'null', `{"issuer":"${name}","jwks_uri":7}`])('fail — the metadata are %s', async (metadata) => {
  inside.answers.set(path, () => new Response(metadata));
  expect(await doctor({ issuer: name, discoveryUrl })).toEqual([expect.stringMatching(/^fail .*(names no issuer|no usable jwks_uri)$/)]);
});

test.each([
  [0, 'ok', 'has keys: 1'],
  [30, 'warn', /its clock is (29|30) s ahead of this machine's/],
  [120, 'fail', /its clock is (119|120) s ahead of this machine's; tokens are judged with 60 s of leeway/],
  [-120, 'fail', /its clock is 12[01] s behind this machine's/],
] as const)('a clock of the issuer that is %d s ahead is reported as %s', async (seconds, status, text) => {
  const headers = { 'content-type': 'application/json', date: new Date(Date.now() + seconds * 1_000).toUTCString() };
  inside.answers.set(path, () => new Response(JSON.stringify(document()), { headers }));
  const [finding = ''] = await doctor({ issuer: name, discoveryUrl });
  expect(finding.startsWith(`${status} `), finding).toBe(true);
  expect(finding).toMatch(text);
});

test('ok — an answer from a cache, whose Age explains the old Date', async () => {
  const headers = { 'content-type': 'application/json', date: new Date(Date.now() - 600_000).toUTCString(), age: '600' };
  inside.answers.set(path, () => new Response(JSON.stringify(document()), { headers }));
  expect(await doctor({ issuer: name, discoveryUrl })).toEqual([expect.stringMatching(/^ok /)]);
});
