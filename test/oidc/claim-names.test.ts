/** Issuers with other names for the claims of RFC 9068 (rule 45). */
import { useService, type Answer } from '../support/service.ts';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';

const corp = await TestIssuer.start('corp');
const entry = corp.entry({
  tokenType: 'jwt',
  clientId: 'entity-login',
  clients: ['web'],
  claimNames: { client_id: 'azp', jti: 'uti', scope: 'scp' },
  scopes: { read: 'entities.read', write: 'entities.write' },
});
const person = await TestIssuer.start('person');
const personal = await person.loginEntry({ claimNames: { sub: 'oid' }, tokenType: 'jwt' });
const pool = await TestIssuer.start('pool');
const pooled = pool.entry({ tokenType: 'jwt', clientId: 'entity-login', clients: ['web'], allowMissingAudience: true });
const service = useService({ ISSUERS_FILE: await writeIssuers(entry, personal, pooled) });
const renamed = { client_id: undefined, jti: undefined, scope: undefined, azp: 'web', uti: 'u-1', scp: 'entities.read' };

beforeEach(() => {
  // The quota would leave out repeated refusals within a minute.
  service().context.auditQuota = new AuditQuota();
});

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
  await service().link(person, 'object-1', 'ada');
  await service().link(pool, 'alice', 'ada');
});

const bear = async (issuer: TestIssuer, claims: Record<string, unknown>) =>
  await service().call<{ user: { name: string } }>('GET', '/auth', {
    headers: { authorization: `Bearer ${await issuer.mint({ claims, header: { typ: undefined } })}` },
  });
const lastDetail = async () =>
  (
    await service()
      .db.selectFrom('audit_event')
      .where('event', '=', 'token.refused')
      .orderBy('id', 'desc')
      .select('detail')
      .executeTakeFirst()
  )?.detail;

async function present(claims: Record<string, unknown>, method = 'GET', path = '/auth'): Promise<Answer<{ code: string }>> {
  const token = await corp.mint({ claims, header: { typ: 'JWT' } });
  return await service().call(method, path, { headers: { authorization: `Bearer ${token}` }, ...(method === 'POST' && { json: {} }) });
}

test('200 — a token whose claims have the names in the file, and whose scopes limit it', async () => {
  expect((await present(renamed)).status).toBe(200);
  expect((await present(renamed, 'GET', '/rest/entity/customer/1')).status).toBe(404);
  expect(await present(renamed, 'POST', '/rest/entity/customer')).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
});

test('200 — scopes as a list have the same meaning as a text, in both claims', async () => {
  for (const [scp, status] of [
    [['entities.read'], 403],
    [['entities.read', 'entities.write'], 201],
    [[], 403],
  ] as const) {
    expect((await present({ ...renamed, scp }, 'POST', '/rest/entity/customer')).status, scp.join()).toBe(status);
  }
});

test.each<[string, Record<string, unknown>]>([
  ['without azp', { azp: undefined }],
  ['without azp, though with client_id', { azp: undefined, client_id: 'web' }],
  ['without uti, though with jti', { uti: undefined, jti: 'j-1' }],
  ['with a number among its scopes', { scp: ['entities.read', 7] }],
  ['with two scopes in one item of the list', { scp: ['entities.read entities.write'] }],
  ['of a client that is not on the list (rule 48)', { azp: 'stranger' }],
])('401 — a token %s', async (_what, change) => {
  expect((await present(renamed)).status).toBe(200);
  expect(await present({ ...renamed, ...change })).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
});

test('200 — another claim than sub identifies the user, whatever sub is (rule 56)', async () => {
  for (const sub of ['pairwise-1', 'pairwise-2'])
    expect((await bear(person, { sub, oid: 'object-1' })).body).toMatchObject({ user: { name: 'ada' } });
});

test.each<[string, Record<string, unknown>, number]>([
  ['the sub of another issuer’s user, and another oid', { sub: 'object-1', oid: 'object-2' }, 403],
  ['no oid', { sub: 'object-1' }, 401],
  ['an oid that is a number', { oid: 7 }, 401],
  ['an empty oid', { oid: '' }, 401],
  ['an oid that is a list', { oid: ['object-1'] }, 401],
])('40x — a token with %s is not the user’s (rule 56)', async (_what, claims, status) => {
  expect((await bear(person, claims)).status).toBe(status);
  if (status === 401) expect(await lastDetail()).toMatchObject({ reason: 'incomplete', claim: 'oid' });
});

test('200 — a token without aud of a listed client, where the file says so (rule 48)', async () => {
  expect((await bear(pool, { aud: undefined, token_use: 'access' })).status).toBe(200);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['of another client', { aud: undefined, client_id: 'stranger' }, { reason: 'client-not-allowed' }],
  ['without a client', { aud: undefined, client_id: undefined }, { reason: 'incomplete', claim: 'client_id' }],
  ['with another aud', { aud: 'other' }, { reason: 'wrong-audience', claim: 'aud' }],
  ['whose aud is null', { aud: null }, { reason: 'wrong-audience', claim: 'aud' }],
  ['whose aud is empty', { aud: [] }, { reason: 'wrong-audience', claim: 'aud' }],
  ['that is an ID token of Cognito', { aud: undefined, token_use: 'id' }, { reason: 'id-token' }],
  ['that is an ID token', { aud: undefined, at_hash: 'x' }, { reason: 'id-token' }],
])('401 — where tokens without aud are accepted, one %s (rules 45 and 48)', async (_what, claims, detail) => {
  expect((await bear(pool, claims)).status).toBe(401);
  expect(await lastDetail()).toMatchObject(detail);
});

test('401 — a token without aud where the file does not say so; the audit trail names the claim (rule 45)', async () => {
  expect((await bear(person, { aud: undefined, oid: 'object-1' })).status).toBe(401);
  expect(await lastDetail()).toMatchObject({ reason: 'incomplete', claim: 'aud' });
});
