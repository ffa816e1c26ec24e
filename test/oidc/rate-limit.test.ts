/** A valid token without a linked user counts for the rate limit of its address, like an invalid one (security rule 81). */
import { afterEach, expect, test } from 'vitest';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const partner = await TestIssuer.start('partner', clock, { opaque: true });
const issuersFile = await writeIssuers(corp.entry(), await partner.loginEntry({ tokenType: 'opaque' }));
const service = useService({ RATE_LIMIT: 'on', ISSUERS_FILE: issuersFile, TRUST_PROXY: '127.0.0.1' }, clock);

afterEach(() => {
  partner.behaviour = 'up';
});

const ask = (token: string, address: string) =>
  service().call('GET', '/auth', { headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address } });

/** The different statuses of 200 requests with this token from one address, sorted. */
async function statusesOf(token: string, address: string): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(token, address)));
  return [...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b);
}

test('429 — a valid token without a linked user, like an invalid token (rule 81)', async () => {
  expect(await statusesOf(await corp.mint({ claims: { sub: 'stranger' } }), '203.0.113.1')).toEqual([403, 429]);
  expect((await ask(await corp.mint({ claims: { sub: 'stranger' } }), '203.0.113.2')).status).toBe(403);
});

test('200 — a token from another address, while one address has as many introspections as it may (rules 50 and 81)', async () => {
  await service().createUser('eve');
  await service().link(partner, 'alice', 'eve');
  const { accessToken } = await partner.signIn('alice');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const asked = partner.introspections;
  let waiting = 0;
  partner.answers.set('/token/introspection', async () => {
    waiting += 1;
    if (waiting === 20) arrived.resolve();
    await released;
    return { active: false };
  });
  const flood = Array.from({ length: 21 }, (_, n) => ask(`made-up-${n}`, '203.0.113.5'));
  await arrived.promise;
  partner.answers.clear();
  expect((await ask(accessToken, '203.0.113.6')).status).toBe(200);
  release();
  const statuses = await Promise.all(flood.map(async (answer) => (await answer).status));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(20).fill(401), 503]);
  expect(partner.introspections).toBe(asked + 21);
});

test('503 — an issuer that does not answer has 80 introspections at once, and leaves 20 to other issuers (rule 50)', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let waiting = 0;
  partner.answers.set('/token/introspection', async () => {
    waiting += 1;
    if (waiting === 80) arrived.resolve();
    await released;
    return { active: false };
  });
  const flood = Array.from({ length: 100 }, (_, n) => ask(`silent-${n}`, `203.0.113.${20 + (n % 5)}`));
  await arrived.promise;
  const { running, limit } = service().context.admission.queueOf('introspection');
  expect([running, limit]).toEqual([80, 100]);
  release();
  const statuses = await Promise.all(flood.map(async (answer) => (await answer).status));
  partner.answers.clear();
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(80).fill(401), ...Array<number>(20).fill(503)]);
  expect(waiting).toBe(80);
});

test('429 — a token whose issuer does not answer (rule 81)', async () => {
  partner.behaviour = 'down';
  expect(await statusesOf('opaque-and-made-up', '203.0.113.3')).toEqual([429, 503]);
});

test('200 — always a valid token of a user, whatever comes from the same address (rule 81)', async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
  const token = await corp.mint();
  expect(await statusesOf(await corp.mint({ claims: { aud: 'another' } }), '203.0.113.4')).toEqual([401, 429]);
  expect(await statusesOf(token, '203.0.113.4')).toEqual([200]);
});
