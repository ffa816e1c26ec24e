/** Issuers with other names for the claims of RFC 9068 (rule 45). */
import { useService, type Answer } from '../support/service.ts';
import { beforeAll, expect, test } from 'vitest';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';

const corp = await TestIssuer.start('corp');
const entry = corp.entry({
  tokenType: 'jwt',
  clientId: 'entity-login',
  clients: ['web'],
  claimNames: { client_id: 'azp', jti: 'uti', scope: 'scp' },
  scopes: { read: 'entities.read', write: 'entities.write' },
});
const service = useService({ ISSUERS_FILE: await writeIssuers(entry) });
const renamed = { client_id: undefined, jti: undefined, scope: undefined, azp: 'web', uti: 'u-1', scp: 'entities.read' };

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
});

async function present(claims: Record<string, unknown>, method = 'GET', path = '/auth'): Promise<Answer<{ code: string }>> {
  const token = await corp.mint({ claims, header: { typ: 'JWT' } });
  return await service().call(method, path, { headers: { authorization: `Bearer ${token}` }, ...(method === 'POST' && { json: {} }) });
}

test('200 — a token whose claims have the names in the file, and whose scopes limit it', async () => {
  expect((await present(renamed)).status).toBe(200);
  expect((await present(renamed, 'GET', '/rest/entity/customer/1')).status).toBe(404);
  expect(await present(renamed, 'POST', '/rest/entity/customer')).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
});

test.each<[string, Record<string, unknown>]>([
  ['without azp', { azp: undefined }],
  ['without azp, though with client_id', { azp: undefined, client_id: 'web' }],
  ['without uti, though with jti', { uti: undefined, jti: 'j-1' }],
  ['with scopes as a list', { scp: ['entities.read'] }],
  ['of a client that is not on the list (rule 48)', { azp: 'stranger' }],
])('401 — a token %s', async (_what, change) => {
  expect((await present(renamed)).status).toBe(200);
  expect(await present({ ...renamed, ...change })).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
});
