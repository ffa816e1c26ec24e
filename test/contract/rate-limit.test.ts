/**
 * The general rate limit, for each operation of openapi.yaml (security rule 81): requests without a credential and with a wrong one share a
 * bucket.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { exampleCall, guarded, methodOf, operations, pathOf, titled } from '../support/operations.ts';
import { useService, type Answer, type ProblemBody } from '../support/service.ts';

const trusted = 'https://app.example.com';
const service = useService({ RATE_LIMIT: 'on', TRUSTED_ORIGINS: trusted });
let key: string;

beforeAll(async () => {
  const { id } = await service().createUser('eve', null);
  key = await service().createKey(id);
});

/** Empties the bucket of this address. It refills by one in 100 ms. */
async function exhaust(): Promise<void> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => service().call('GET', '/nowhere')));
    if (answers.every(({ status }) => status === 429)) return;
  }
}

/** The first 429 among the answers to a few requests, as the bucket may refill by one meanwhile. */
async function refusal(send: () => Promise<Answer<ProblemBody>>): Promise<Answer<ProblemBody>> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const answer = await send();
    if (answer.status === 429) return answer;
    await exhaust();
  }
  throw new Error('never refused');
}

describe.for(titled(operations))('%s', ([, operation]) => {
  const send = (headers: Record<string, string> = {}) =>
    service().call(methodOf(operation), pathOf(operation), exampleCall(operation, { headers }));

  test('429 — requests without a credential, with Retry-After', async () => {
    const answer = await refusal(() => send());
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('ratelimit-policy')).toMatch(/q=\d+/);
    expect(answer.headers.get('ratelimit')).toMatch(/r=0/);
    if (operation.method === 'head') expect(answer.headers.get('problem-code')).toBe('rate-limited');
    else expect(answer.body.code).toBe('rate-limited');
  });
});

describe.for(titled(guarded))('%s', ([, operation]) => {
  const send = (headers: Record<string, string>) =>
    service().call(methodOf(operation), pathOf(operation), exampleCall(operation, { headers }));

  test('429 — guesses at credentials, while a valid credential from the same address is served', async () => {
    const both = { 'x-api-key': key, authorization: 'Bearer abc' };
    for (const headers of [{ 'x-api-key': 'esk_x' }, { authorization: 'Bearer abc' }, { cookie: `sid=${'x'.repeat(32)}` }, both]) {
      const answer = await refusal(() => send(headers));
      expect(answer.body.code).toBe('rate-limited');
    }
    expect((await send({ 'x-api-key': key })).status).not.toBe(429);
  });
});

test.each([
  ['POST', '/auth', { form: { user: 'eve' } }],
  ['HEAD', '/auth?logout=1', {}],
  ['GET', '/openapi.json', {}],
  ['GET', '/nowhere', {}],
  ['DELETE', '/auth', {}],
] as const)('429 — %s %s, which checks no credential, also with a valid one (rule 81)', async (method, path, call) => {
  for (const headers of [{ 'x-api-key': key }, { authorization: 'Bearer abc' }, { cookie: `sid=${'x'.repeat(32)}` }]) {
    expect((await refusal(() => service().call(method, path, { ...call, headers }))).status).toBe(429);
  }
});

test('200 — health checks beside a flood from the same address (rules 81 and 92)', async () => {
  await exhaust();
  for (const path of ['/health/live', '/health/ready']) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => service().call('GET', path)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
});

test('200 — HEAD /auth with a valid credential, like GET, beside a flood from the same address (rule 81)', async () => {
  const { id } = await service().createUser('frank');
  const cookie = await service().openSession(id);
  for (const headers of [{ 'x-api-key': key }, { cookie }]) {
    await exhaust();
    const answers = await Promise.all(Array.from({ length: 10 }, () => service().call('HEAD', '/auth', { headers })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
});

test('204 — a logout with a valid cookie ends its session beside a flood from the same address (rules 25 and 81)', async () => {
  const { id } = await service().createUser('grace');
  const cookies = await Promise.all(Array.from({ length: 10 }, () => service().openSession(id)));
  const logout = (cookie: string) => service().call('HEAD', '/auth?logout=1', { cookie });
  await exhaust();
  const answers = await Promise.all(cookies.map(logout));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  for (const cookie of cookies) expect(await sessionOf(service(), cookie)).toMatchObject({ revoked_reason: 'logout' });
  expect((await refusal(() => logout(`sid=${'x'.repeat(32)}`))).headers.get('problem-code')).toBe('rate-limited');
});

test('429 — a logout from another site counts, unless its cookie is valid (rule 81)', async () => {
  const { id } = await service().createUser('heidi');
  const cookie = await service().openSession(id);
  const headers = { 'sec-fetch-site': 'cross-site' };
  const logout = (cookie: string) => service().call('HEAD', '/auth?logout=1', { cookie, headers });
  expect((await refusal(() => logout(`sid=${'x'.repeat(32)}`))).headers.get('problem-code')).toBe('rate-limited');
  expect((await logout(cookie)).headers.get('problem-code')).toBe('csrf-rejected');
});

test('429 — URLs that are too long (rule 81)', async () => {
  const path = `/auth?${'x'.repeat(9_000)}`;
  for (const headers of [{}, { authorization: 'Bearer abc' }]) {
    expect((await refusal(() => service().call('GET', path, { headers }))).body.code).toBe('rate-limited');
  }
});

test('429 — preflights of trusted origins, which can read the answer too (rule 81)', async () => {
  const headers = { origin: trusted, 'access-control-request-method': 'POST' };
  const answer = await refusal(() => service().call('OPTIONS', '/rest/entity/note', { headers }));
  expect(answer.headers.get('access-control-allow-origin')).toBe(trusted);
});

test('429 — paths that cannot be decoded, for which no route is searched (rule 81)', async () => {
  const answer = await refusal(() => service().call('GET', '/rest/entity/%zz/1'));
  expect(answer.body.code).toBe('rate-limited');
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('liveness is never limited, so that no flood makes an orchestrator restart the process (rule 81)', async () => {
  await exhaust();
  expect((await service().call('GET', '/health/live')).status).toBe(200);
});
