/** What an error says about the request that failed. */
import { expect, test } from 'vitest';
import { resultOf } from '../../src/client/index.ts';
import { clientOf, empty, problem, reset, scriptedServer, type Step } from '../support/client.ts';

/** The error of a call to a server with this answer, which begins a link and has a secret in its query. */
async function errorAfter(step: Step) {
  const server = await scriptedServer(step);
  const client = clientOf(server, { retry: false });
  const result = await resultOf(client.linkIdentity('corp', { returnTo: '/app?invitation=s3cret' }));
  if (result.ok) return expect.fail('the call should have failed');
  expect(server.heard[0]?.path).toContain('s3cret');
  return { error: result.error, server };
}

test.each<[string, Step]>([
  ['an answer of the service', problem(403, 'fresh-login-required')],
  ['an answer of a proxy', empty(502)],
  ['a broken connection', reset],
])('after %s it has the method and the URL, without the values of the query', async (_what, step) => {
  const { error, server } = await errorAfter(step);
  expect(error).toMatchObject({ method: 'POST', url: `${server.url}/auth/oidc/corp/link?return_to=…` });
  expect(`${JSON.stringify(error)} ${error.stack} ${error.message}`).not.toContain('s3cret');
});

test('the message of a call without an answer names both', async () => {
  const { error, server } = await errorAfter(reset);
  expect(error.message).toBe(`POST ${server.url}/auth/oidc/corp/link?return_to=…: The service cannot be reached, or the connection broke.`);
});

test('a token that cannot be obtained, an abort and a late answer name the request too', async () => {
  const server = await scriptedServer(problem(404, 'not-found'));
  const bearer = () => Promise.reject(new Error('no token'));
  const without = clientOf(server, { credential: { bearer } });
  const request = { method: 'GET', url: `${server.url}/auth?roles=…` };
  expect(await resultOf(without.getSession({ roles: true }))).toMatchObject({ ok: false, error: { reason: 'credential', ...request } });
  const aborted = clientOf(server).getSession({ roles: true, signal: AbortSignal.abort() });
  expect(await resultOf(aborted)).toMatchObject({ ok: false, error: { reason: 'aborted', ...request } });
});
