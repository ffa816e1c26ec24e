/** Claims that rules compare with fields: those of the newest token of an identity, as the issuer's entry names them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, useService, type Call, type TestService } from '../support/service.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const home = useService({}, clock);
let replicas: TestService[];
const began = Math.floor(clock.wall() / 1_000);
const rights = {
  regions: { claim: 'groups', type: 'array' },
  level: { claim: ['employment', 'level'], type: 'number' },
  team: { claim: 'team', type: 'string' },
  intern: { claim: 'intern', type: 'boolean' },
};

beforeAll(async () => {
  const { id } = await home().createUser('keeper', null);
  await home().createProfile(id, 'member', { note: ['read'] });
  const issuersFile = await writeIssuers(corp.entry({ provision: { enabled: true, profile: 'member' }, rights }));
  replicas = [await home().replica({ ISSUERS_FILE: issuersFile }, clock), await home().replica({ ISSUERS_FILE: issuersFile }, clock)];
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
});

/** A token of the subject, issued `age` seconds before the tests began. */
const token = (sub: string, claims: object, age = 0) => corp.mint({ claims: { sub, iat: began - age, auth_time: began - age, ...claims } });
const bear = async (sub: string, claims: object, age = 0): Promise<Call> => ({
  headers: { authorization: `Bearer ${await token(sub, claims, age)}` },
});

async function claimsOn(replica: TestService | undefined, call: Call): Promise<object> {
  const answer = await (replica ?? home()).call<{ claims: object }>('GET', '/auth', call);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.claims;
}

async function signIn(sub: string, claims: object, age = 0): Promise<Call> {
  const [replica = home()] = replicas;
  const answer = await replica.call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: await token(sub, claims, age) } });
  expect(answer.status, answer.text).toBe(200);
  return { cookie: cookieOf(answer) };
}

const all = { groups: ['north', 'west'], employment: { level: 3 }, team: 'blue', intern: false, email: 'a@example.com' };
const read = { regions: ['north', 'west'], level: 3, team: 'blue', intern: false };

test('200 — a new user, a session and a bearer token have the named claims of their types, and no others', async () => {
  expect(await claimsOn(replicas[0], await bear('ann', all))).toEqual(read);
  expect(await claimsOn(replicas[1], await signIn('ann', all))).toEqual(read);
});

test('200 — a session and a token of before have the claims of the newest token, on each replica at the next request (rule 167)', async () => {
  const session = await signIn('ben', all, 60);
  const earlier = await bear('ben', all, 60);
  const expectAll = async (claims: object) => {
    for (const call of [session, earlier]) for (const replica of replicas) expect(await claimsOn(replica, call)).toEqual(claims);
  };
  await expectAll(read);
  expect(await claimsOn(replicas[1], await bear('ben', { groups: ['south'] }, 30))).toEqual({ regions: ['south'] });
  for (const replica of replicas) await replica.settle();
  await expectAll({ regions: ['south'] });
  // An older token that comes later changes nothing.
  expect(await claimsOn(replicas[0], await bear('ben', { groups: ['north'] }, 45))).toEqual({ regions: ['south'] });
  await expectAll({ regions: ['south'] });
});

test('200 — a password session and an API key of the same user have none', async () => {
  const { id } = await home().createUser('cat');
  await home().db.insertInto('identity').values({ issuer: corp.url, subject: 'cat', user_id: id }).execute();
  expect(await claimsOn(replicas[0], await bear('cat', all))).toEqual(read);
  for (const call of [{ cookie: await home().signIn('cat') }, { headers: { 'x-api-key': await home().createKey(id) } }])
    expect(await claimsOn(replicas[0], call)).toEqual({});
});

test('200 — a token that a client got for itself has none, though its subject is linked to a user', async () => {
  const { id } = await home().createUser('robot');
  await home().db.insertInto('identity').values({ issuer: corp.url, subject: 'robot', user_id: id }).execute();
  expect(await claimsOn(replicas[0], await bear('robot', all))).toEqual(read);
  expect(await claimsOn(replicas[0], await bear('robot', { ...all, client_id: 'robot' }))).toEqual({});
});

test.each<[string, object, object]>([
  ['a text where a list is read', { groups: 'north' }, { regions: ['north'] }],
  ['an empty list', { groups: [] }, { regions: [] }],
  ['100 items', { groups: Array.from({ length: 100 }, String) }, { regions: Array.from({ length: 100 }, String) }],
  ['101 items', { groups: Array.from({ length: 101 }, String) }, {}],
  ['a list with a number', { groups: ['north', 1] }, {}],
  ['a number as a text', { employment: { level: '3' } }, {}],
  ['a text in place of the member around', { employment: 'level' }, {}],
  ['null', { team: null }, {}],
  ['true as a text', { intern: 'true' }, {}],
  ['groups that the issuer has elsewhere', { groups: undefined, hasgroups: true }, {}],
  ['more than 4 KiB', { groups: Array.from({ length: 5 }, () => 'x'.repeat(900)), team: 'blue' }, { team: 'blue' }],
])('200 — with %s the rest still counts', async (what, claims, expected) => {
  expect(await claimsOn(replicas[0], await bear(`user with ${what}`, { level: 1, ...claims }))).toEqual(expected);
});

test('200 — an unlinked identity takes its claims along, and a process without the entry shows none', async () => {
  const call = await bear('dan', all);
  expect(await claimsOn(replicas[0], call)).toEqual(read);
  const plain = await home().replica({ ISSUERS_FILE: await writeIssuers(corp.entry()) }, clock);
  expect(await claimsOn(plain, call)).toEqual({});
  await plain.close();
});
