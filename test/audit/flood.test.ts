/**
 * Unknown clients, from any number of addresses, can neither fill the audit trail nor crowd out the events of known users (rules 39, 40, 81
 * and 85).
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService, type Answer, type Call } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ TRUST_PROXY: '127.0.0.1', ISSUERS_FILE: await writeIssuers(corp.entry()) });

let reader = '';
let other = '';
let key = '';
let latestEvent = '0';

beforeAll(async () => {
  const { id } = await service().createUser('reader', { note: ['read'] });
  reader = await service().openSession(id);
  key = await service().createKey(id);
  other = await service().openSession((await service().createUser('other', { note: ['read'] })).id);
  await service().createUser('ada');
});
beforeEach(async () => {
  // One minute on the test's clock, on a slow machine too.
  service().context.auditQuota = new AuditQuota(() => 0);
  latestEvent = (await service().db.selectFrom('audit_event').select('id').orderBy('id', 'desc').executeTakeFirst())?.id ?? '0';
});

/** The events called `event` that this test has caused. */
const eventsOf = (event: string) =>
  service()
    .db.selectFrom('audit_event')
    .where('event', '=', event)
    .where('id', '>', latestEvent)
    .select(['user_name', 'detail'])
    .orderBy('id')
    .execute();

/** Sends `count` requests, each from another address, twenty at a time. */
async function fromAddresses(count: number, send: (n: number, headers: Record<string, string>) => Promise<Answer>): Promise<number[]> {
  const statuses: number[] = [];
  for (let first = 0; first < count; first += 20) {
    const batch = Array.from({ length: Math.min(20, count - first) }, (_, index) => {
      const n = first + index;
      return send(n, { 'x-forwarded-for': `10.1.${n >> 8}.${n & 255}` });
    });
    statuses.push(...(await Promise.all(batch)).map(({ status }) => status));
  }
  return statuses;
}

const call = (method: string, path: string, more: Call) => service().call(method, path, more);
const foreignLogin = (_n: number, headers: Record<string, string>) =>
  call('POST', '/auth', { form: { user: 'x', password: 'x' }, headers: { ...headers, 'sec-fetch-site': 'cross-site' } });
const deny = (cookie: string, name: string) => call('POST', `/rest/entity/${name}`, { cookie, json: {} });

describe('a thousand addresses', { timeout: 120_000 }, () => {
  test('401 — with invalid tokens leave 300 events, and a known user’s refusal is still written', async () => {
    const statuses = await fromAddresses(1_000, (_n, headers) =>
      call('GET', '/auth', { headers: { ...headers, authorization: 'Bearer x' } }),
    );
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await eventsOf('token.refused')).toHaveLength(300);
    expect((await deny(reader, 'payroll')).status).toBe(403);
    expect(await eventsOf('permission.denied')).toMatchObject([{ user_name: 'reader', detail: { entity: 'payroll' } }]);
  });

  test('403 — with every kind of refusal crowd out no event of a known user, key or account', async () => {
    expect(new Set(await fromAddresses(1_000, foreignLogin))).toEqual(new Set([403]));
    expect(await eventsOf('csrf.refused')).toHaveLength(300);

    expect((await deny(reader, 'payroll')).status).toBe(403);
    expect(await eventsOf('permission.denied')).toMatchObject([{ user_name: 'reader', detail: { entity: 'payroll' } }]);
    expect((await call('POST', '/auth/refresh', { cookie: reader, headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await eventsOf('csrf.refused')).at(-1)).toMatchObject({ user_name: 'reader' });
    const useKey = () => call('GET', '/auth', { headers: { 'x-api-key': key } });
    await service().db.updateTable('api_key').set({ revoked_at: new Date() }).execute();
    expect((await useKey()).status).toBe(401);
    await service()
      .db.updateTable('api_key')
      .set({ key_hash: Buffer.alloc(32) })
      .execute();
    expect((await useKey()).status).toBe(401);
    expect((await eventsOf('api_key.refused')).map(({ user_name, detail }) => [user_name, detail['reason']])).toEqual([
      ['reader', 'revoked'],
      ['reader', 'wrong-secret'],
    ]);
    const token = await corp.mint({ claims: { sub: 'nobody-here' } });
    expect((await call('GET', '/auth', { headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
    expect(await eventsOf('token.refused')).toMatchObject([{ detail: { reason: 'not-linked', subject: 'nobody-here' } }]);
    expect((await call('POST', '/auth', { form: { user: 'ada', password: 'not the password at all' } })).status).toBe(401);
    expect((await call('POST', '/auth', { form: { user: 'made up', password: 'not the password at all' } })).status).toBe(401);
    expect(await eventsOf('login.failed')).toMatchObject([{ user_name: 'ada' }]);
  });
});

test(
  '403 — four hundred subjects without a linked user leave 300 events, and crowd out no event of a known user',
  { timeout: 120_000 },
  async () => {
    const statuses = await fromAddresses(400, async (n, headers) => {
      const token = await corp.mint({ claims: { sub: `stranger-${n}` } });
      return await call('GET', '/auth', { headers: { ...headers, authorization: `Bearer ${token}` } });
    });
    expect(new Set(statuses)).toEqual(new Set([403]));
    expect(await eventsOf('token.refused')).toHaveLength(300);
    expect((await deny(reader, 'payroll')).status).toBe(403);
    expect(await eventsOf('permission.denied')).toHaveLength(1);
  },
);

test('403 — one known user leaves twenty events a minute, and crowds out no other', { timeout: 120_000 }, async () => {
  for (let n = 0; n < 400; n++) expect((await deny(reader, `name${n}`)).status).toBe(403);
  expect(await eventsOf('permission.denied')).toHaveLength(20);
  expect((await deny(other, 'payroll')).status).toBe(403);
  expect((await eventsOf('permission.denied')).at(-1)).toMatchObject({ user_name: 'other', detail: { entity: 'payroll' } });
});

test('429 — an address over its limit leaves one event for all operations', async () => {
  const crowded = await service().replica({ RATE_LIMIT: 'on', TRUST_PROXY: '127.0.0.1' });
  const headers = { 'x-forwarded-for': '203.0.113.77' };
  const paths = ['/auth', '/auth/profile', '/auth/keys', '/auth/sessions', '/auth/issuers', '/rest/entity/note/1'];
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => crowded.call('GET', paths[n % paths.length] ?? '', { headers })));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(50);
  expect(await eventsOf('rate.limited')).toMatchObject([{ detail: { limit: 'address' } }]);
  await crowded.close();
});

test('401 — each wrong password for an account is written, and one a minute for unknown names of an address', async () => {
  const fail = (user: string) => call('POST', '/auth', { form: { user, password: 'not the password at all' } });
  await service().db.deleteFrom('login_attempt').execute();
  for (let n = 0; n < 3; n++) expect((await fail('ada')).status).toBe(401);
  for (let n = 0; n < 3; n++) expect((await fail(`made up ${n}`)).status).toBe(401);
  expect((await eventsOf('login.failed')).map(({ user_name }) => user_name)).toEqual(['ada', 'ada', 'ada', null]);
});
