/** Requests that another site makes a browser send, for each operation of openapi.yaml (security rules 27 to 30). */
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changing, exampleCall, methodOf, pathOf, titled } from '../support/operations.ts';
import { useService } from '../support/service.ts';

const trusted = 'https://app.example.com';
const service = useService({ TRUSTED_ORIGINS: trusted });
let eve: string;
let key: string;
let cookie: string;

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

describe.for(titled(changing))('%s', ([, operation]) => {
  const send = (headers: Record<string, string>, carrier?: string) =>
    service().call(methodOf(operation), pathOf(operation), exampleCall(operation, { cookie: carrier, headers }));

  test('403 — by cookie from another site, also without a body or by form, but not from trusted ones (rules 28 and 30)', async () => {
    for (const headers of foreign) {
      const answer = await send(headers, cookie);
      expect(answer.status, JSON.stringify(headers)).toBe(403);
      expect(answer.body.code).toBe('csrf-rejected');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    for (const headers of own) {
      const answer = await send(headers, await service().openSession(eve));
      expect(answer.body?.code, JSON.stringify(headers)).not.toBe('csrf-rejected');
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
      for (const headers of foreign) expect((await send({ ...headers, [name]: value })).body?.code).not.toBe('csrf-rejected');
    },
  );
});

const needsRecentSignIn = changing.filter(({ sessionRights }) => sessionRights?.password === 'fresh');

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
