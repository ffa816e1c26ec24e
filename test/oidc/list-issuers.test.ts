import { expect, test } from 'vitest';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const tokens = await TestIssuer.start('tokens');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry({ label: 'Corporate login' }), tokens.entry()) });

test('200 — to any caller, the issuers for sign-in with their URLs, and without a request to an issuer', async () => {
  const answer = await service().call('GET', '/auth/issuers');
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    issuers: [{ id: 'corp', label: 'Corporate login', startUrl: 'http://localhost:3000/auth/oidc/corp/start' }],
  });
  expect([...corp.requests, ...tokens.requests]).toEqual([]);
});

test('200 — with an issuer for sign-in, session info lists that method', async () => {
  await service().createUser('ada');
  const info = await service().call('GET', '/auth', { cookie: await service().signIn('ada') });
  expect(info.body).toMatchObject({ server: { authentication: ['password', 'api-key', 'oauth2', 'openid'] } });
});

test('200 — also with an invalid credential, which is not checked', async () => {
  expect((await service().call('GET', '/auth/issuers', { headers: { authorization: 'Bearer abc' } })).status).toBe(200);
});
