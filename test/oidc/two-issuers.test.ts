/** Two issuers that differ in their URL and algorithms only: the tokens of one are never valid for the other (rules 46 and 56). */
import { beforeAll, expect, test } from 'vitest';
import { newKey, TestClock, TestIssuer, writeIssuers, type Minted } from '../support/issuer.ts';
import { useService, type Answer } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const twin = await TestIssuer.start('twin', clock, { alg: 'ES256', clientAuthentication: 'client_secret_post' });
// Its key ids are those of corp, and so are its subjects, clients and audience.
twin.key = await newKey('ES256', corp.key.kid);
const impostor = await newKey('RS256', corp.key.kid);
const published = await newKey('RS256');
twin.publish([twin.key, published]);
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry(), await twin.loginEntry()) }, clock);

beforeAll(async () => {
  await service().createUser('ada');
  await service().createUser('bob');
  await service().link(corp, 'alice', 'ada');
  await service().link(twin, 'alice', 'bob');
});

interface Told {
  code: string;
  user: { name: string };
}

async function present(token: string, oidcIssuer: string): Promise<Answer<Told>[]> {
  const bearer = await service().call<Told>('GET', '/auth', { headers: { authorization: `Bearer ${token}` } });
  return [bearer, await service().call<Told>('POST', '/auth', { form: { oidcIssuer, access_token: token } })];
}

const sessions = async () => (await service().db.selectFrom('session').select('id').execute()).length;

test('200 — each has its own subjects: the same subject is another user at each', async () => {
  for (const [issuer, name] of [
    [corp, 'ada'],
    [twin, 'bob'],
  ] as const) {
    const token = await issuer.mint();
    for (const answer of await present(token, issuer.id)) expect(answer).toMatchObject({ status: 200, body: { user: { name } } });
    const browser = new BrowserSession(service());
    expect((await browser.signIn(issuer, 'alice')).status).toBe(303);
    expect((await browser.call('GET', '/auth')).body.user.name).toBe(name);
  }
});

test.each<[string, () => Minted]>([
  ['with its own algorithm', () => ({ claims: { iss: corp.url } })],
  ['with the algorithm of the other', () => ({ claims: { iss: corp.url }, key: impostor })],
  ['and with a reference to the key', () => ({ claims: { iss: corp.url }, header: { jku: `${twin.url}/jwks` }, key: impostor })],
])('401 — signed by one in the name of the other, %s', async (_how, minted) => {
  const before = await sessions();
  const token = await twin.mint(minted());
  for (const oidcIssuer of ['corp', 'twin']) {
    for (const answer of await present(token, oidcIssuer)) expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  }
  expect(await sessions()).toBe(before);
});

test('401 — a valid token of one, exchanged under the name of the other, for both', async () => {
  const before = await sessions();
  for (const [issuer, named] of [
    [corp, twin],
    [twin, corp],
  ] as const) {
    const token = await issuer.mint();
    for (const oidcIssuer of [named.id, named.url]) {
      const [, login] = await present(token, oidcIssuer);
      expect(login).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    }
  }
  expect(await sessions()).toBe(before);
});

test('401 — with an algorithm that only the other is configured with, although this one publishes the key', async () => {
  for (const answer of await present(await twin.mint({ key: published }), 'twin')) expect(answer.status).toBe(401);
});
