/**
 * Credentials that have ended or belong to another user, for each operation of openapi.yaml and each credential that it accepts. An ended
 * credential is refused, and a caller with a right has it only over the caller's own things.
 */
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/contract/contract.ts';
import { seed, rowsOf } from '../support/entities.ts';
import { newKey, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { exampleCall, guarded, methodOf, urlOf, titled } from '../support/operations.ts';
import { useService, type Answer, type Call } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(corp.entry()) });
let eve: string;

beforeAll(async () => {
  // A user without a profile, so that the operations' examples change nothing.
  eve = (await service().createUser('eve', null)).id;
  await service().link(corp, 'eve', 'eve');
});
beforeEach(async () => {
  await sql`delete from session; delete from api_key; update user_account set active = true`.execute(service().db);
  await service().settle();
});

type Headers = Record<string, string>;
const header = (name: string, value: string): Headers => ({ [name]: value });
const set = (table: string, change: string) => async () => {
  await sql`${sql.raw(`update ${table} set ${change}`)}`.execute(service().db);
  await service().settle();
};
const disable = set('user_account', 'active = false');
const hour = "now() - interval '1 hour'";

/** A kind of credential: how to get a valid one, what ends it, and similar ones that were never valid. */
interface Way {
  get: () => Promise<Headers>;
  endings: Record<string, () => Promise<void>>;
  never: Record<string, () => Promise<Headers>>;
}

const mint = async (minted: Parameters<TestIssuer['mint']>[0] = {}) => {
  const { claims, ...rest } = minted;
  return header('authorization', `Bearer ${await corp.mint({ ...rest, claims: { sub: 'eve', ...claims } })}`);
};
const long = Math.floor(Date.now() / 1_000) - 7_200;
const bearer: Way = {
  get: () => mint(),
  endings: { 'of a disabled user': disable },
  never: {
    expired: () => mint({ claims: { iat: long, exp: long + 300 } }),
    'not valid yet': () => mint({ claims: { nbf: long + 14_400 } }),
    'for somebody else': () => mint({ claims: { aud: 'another-service' } }),
    'signed by nobody known': async () => mint({ key: await newKey('RS256', corp.key.kid) }),
  },
};
const ways: Record<string, Way> = {
  sessionCookie: {
    get: async () => header('cookie', await service().openSession(eve)),
    endings: {
      idle: set('session', `idle_expires_at = ${hour}`),
      'past its end': set('session', `expires_at = ${hour}`),
      revoked: set('session', 'revoked_at = now()'),
      'from before a password change': set('session', 'credential_version = credential_version - 1'),
      'of a disabled user': disable,
    },
    never: {},
  },
  apiKey: {
    get: async () => header('x-api-key', await service().createKey(eve)),
    endings: {
      expired: set('api_key', `expires_at = ${hour}`),
      revoked: set('api_key', 'revoked_at = now()'),
      'of a disabled user': disable,
    },
    never: {},
  },
  oauth2: bearer,
  openId: bearer,
};

const send = (operation: Operation, call: Call, values: Record<string, string> = {}): Promise<Answer<{ code: string }>> =>
  service().call(methodOf(operation), urlOf(operation, values), exampleCall(operation, call));

const schemesOf = ({ security }: Operation) => security.flatMap((alternative) => Object.keys(alternative));
const wayOf = (scheme: string): Way => {
  const way = ways[scheme];
  if (!way) throw new Error(`openapi.yaml has the scheme ${scheme}: add to this file how to get its credential, and what ends it`);
  return way;
};
const expectLetIn = ({ status, text }: Answer) => {
  expect(status, text).not.toBe(401);
  expect(status, text).toBeLessThan(500);
};

describe.for(titled(guarded))('%s', ([, operation]) => {
  test.for(schemesOf(operation))(
    '401 — a credential by %s that has ended, while it was accepted before (rules 12, 14 and 59)',
    async (scheme) => {
      const { get, endings, never } = wayOf(scheme);
      for (const [how, end] of Object.entries(endings)) {
        const headers = await get();
        expectLetIn(await send(operation, { headers: await get() }));
        await end();
        expect((await send(operation, { headers })).status, how).toBe(401);
        await set('user_account', 'active = true')();
      }
      for (const [how, make] of Object.entries(never)) expect((await send(operation, { headers: await make() })).status, how).toBe(401);
      expectLetIn(await send(operation, { headers: await get() }));
    },
  );

  const others = Object.keys(ways).filter((scheme) => !schemesOf(operation).includes(scheme));

  if (others.length > 0)
    test('403 — a valid credential of a kind that the operation does not accept (rule 59)', async () => {
      for (const scheme of others) {
        const answer = await send(operation, { headers: await wayOf(scheme).get() });
        expect([answer.status, answer.body.code], scheme).toEqual([403, 'forbidden']);
      }
    });
});

/**
 * Operations whose path names a user's thing. A provider and an entity type belong to no user. An upsert finds its entity by values, and
 * upsert-entity.test.ts has its rights.
 */
const addressed = guarded.filter(
  ({ operationId, parameters, tag }) =>
    tag !== 'Entity types' &&
    operationId !== 'upsertEntity' &&
    parameters.some(({ in: place, name }) => place === 'path' && name !== 'issuer'),
);

describe.for(titled(addressed))('%s', ([, operation]) => {
  test('403 and 404 — another user’s thing, with each credential, which its owner may change (rules 62 and 64)', async () => {
    const { id: ada } = await service().createUser(`ada-${operation.operationId.toLowerCase()}`);
    const name = `ada-${operation.operationId.toLowerCase()}`;
    const entity = operation.operationId;
    await seed(service(), entity, '7', { a: 1 }, name);
    const cookie = await service().openSession(ada);
    const key = await service().createKey(ada);
    const { id: session } = await service().db.selectFrom('session').where('user_id', '=', ada).select('id').executeTakeFirstOrThrow();
    await service().link(corp, name, name);
    const { id: link } = await service().db.selectFrom('identity').where('user_id', '=', ada).select('id').executeTakeFirstOrThrow();
    const ids: [path: string, id: string][] = [
      ['/auth/sessions', session],
      ['/auth/identities', link],
      ['/auth/keys', key.slice(4, 16)],
    ];
    const [, id = ''] = ids.find(([path]) => operation.path.startsWith(path)) ?? [];
    const values: Record<string, string> = operation.path.startsWith('/auth/profile') ? { name } : { name: entity, key: '7', id };
    const rows = async () => ({
      entities: await rowsOf(service(), entity),
      session: await sql`select revoked_at, profile_id from session where user_id = ${ada}`.execute(service().db).then(({ rows }) => rows),
      keys: await sql`select revoked_at, replaced_at from api_key where user_id = ${ada}`.execute(service().db).then(({ rows }) => rows),
      links: await sql`select id from identity where user_id = ${ada}`.execute(service().db).then(({ rows }) => rows),
    });
    const before = await rows();
    for (const scheme of schemesOf(operation)) {
      const answer = await send(operation, { headers: await wayOf(scheme).get() }, values);
      expect(answer.status, `${scheme}: ${answer.text}`).toBe(operation.path.startsWith('/auth') ? 404 : 403);
    }
    expect(await rows()).toEqual(before);
    const own = await service().call(methodOf(operation), ofFirstVersion(urlOf(operation, values)), exampleCall(operation, { cookie }));
    expect(own.status, own.text).toBeLessThan(300);
  });
});

/** The URL with the version that the restore of a live entity needs. */
function ofFirstVersion(url: string): string {
  return url.endsWith('/restore') ? `${url}?version=1` : url;
}
