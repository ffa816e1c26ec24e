/** Requests that another site makes a browser send, for each operation of openapi.yaml (security rules 27 to 30). */
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { abusable, exampleCall, methodOf, pathOf, titled } from '../support/operations.ts';
import { useService, type Answer } from '../support/service.ts';

const trusted = 'https://app.example.com';
const service = useService({ TRUSTED_ORIGINS: trusted });
let eve: string;
let key: string;
let cookie: string;

/** The answer to HEAD has no body, and its code in a header. */
const codeOf = ({ body, headers }: Answer<{ code?: string } | null>) => body?.code ?? headers.get('problem-code');

beforeAll(async () => {
  // A user without a profile, so that the operations' examples change nothing.
  eve = (await service().createUser('eve', null)).id;
  key = await service().createKey(eve);
});

beforeEach(async () => {
  cookie = await service().openSession(eve);
});

const foreign: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:3000' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: `${trusted}.evil.example` },
];

const own: Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { origin: 'http://localhost:3000' },
  { 'sec-fetch-site': 'cross-site', origin: trusted },
  { origin: trusted },
];

describe.for(titled(abusable))('%s', ([, operation]) => {
  const send = (headers: Record<string, string>, carrier?: string) =>
    service().call(methodOf(operation), pathOf(operation), exampleCall(operation, { cookie: carrier, headers }));

  test('403 — by cookie from another site with any method, also without a body or by form, but not from trusted ones (rules 27, 28 and 30)', async () => {
    for (const headers of foreign) {
      const answer = await send(headers, cookie);
      expect(answer.status, JSON.stringify(headers)).toBe(403);
      expect(codeOf(answer)).toBe('csrf-rejected');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    for (const headers of own) {
      const answer = await send(headers, await service().openSession(eve));
      expect(codeOf(answer), JSON.stringify(headers)).not.toBe('csrf-rejected');
    }
  });

  test('403 — the Host header is not trusted (rule 29)', async () => {
    const answer = await send({ origin: 'https://evil.example', host: 'evil.example', 'x-forwarded-host': 'evil.example' }, cookie);
    expect(answer.status).toBe(403);
  });

  test.for(['x-api-key', 'authorization'])(
    'a credential in %s is always accepted: no form of another site can set it (rule 27)',
    async (name) => {
      const value = name === 'x-api-key' ? key : 'Bearer abc';
      for (const headers of foreign) expect(codeOf(await send({ ...headers, [name]: value }))).not.toBe('csrf-rejected');
    },
  );
});

const needsRecentSignIn = abusable.filter(({ sessionRights }) => sessionRights?.password === 'fresh');

test.for(titled(needsRecentSignIn))(
  '403 — %s with the cookie of an old sign-in: the site is checked first (rules 1 and 28)',
  async ([, operation]) => {
    const old = await service().openSession(eve);
    await sql`update session set signed_in_at = now() - interval '16 minutes'`.execute(service().db);
    const send = (headers: Record<string, string>) =>
      service().call(methodOf(operation), pathOf(operation), exampleCall(operation, { cookie: old, headers }));
    expect((await send({})).body.code).toBe('fresh-login-required');
    for (const headers of foreign) expect((await send(headers)).body.code, JSON.stringify(headers)).toBe('csrf-rejected');
  },
);

/** No request of another site waits for this lock, so it makes no statement on entities (rule 28). */
test('403 — a list, a count and an entity for another site, before any query of entities (rule 28)', async () => {
  const { id } = await service().createUser('grace');
  const by = await service().openSession(id);
  await service().call('GET', '/auth', { cookie: by });
  await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table entity in access exclusive mode`.execute(trx);
      for (const method of ['GET', 'HEAD'])
        for (const path of ['/rest/entity/note?count=exact', '/rest/entity/note/1', '/rest/entity/note/1/history']) {
          const answer = await service().call(method, path, { cookie: by, headers: { 'sec-fetch-site': 'cross-site' } });
          expect([answer.status, path]).toEqual([method === 'HEAD' ? expect.anything() : 403, path]);
        }
    });
});

test('403 — the contract with the types of the caller, for another site; 200 without them', async () => {
  const headers = { 'sec-fetch-site': 'same-site' };
  for (const path of ['/openapi.json?type=*', '/docs/json?type=*', '/docs/types']) {
    expect((await service().call('GET', path, { cookie })).status, path).toBe(200);
    expect((await service().call('GET', path, { cookie, headers })).status, path).toBe(403);
  }
  for (const path of ['/docs', '/docs/json', '/openapi.json', '/openapi.yaml', '/problems/not-found', '/health/live', '/documentation'])
    expect((await service().call('GET', path, { cookie, headers })).status, path).toBe(200);
});
