/** Authentication, for each operation of openapi.yaml: credentials are checked before anything else of a request. */
import { beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../src/api-keys/key.ts';
import { exampleCall, guarded, methodOf, operations, pathOf, titled } from '../support/operations.ts';
import { sendRequest } from '../support/raw.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const service = useService();
let cookie: string;
let key: string;

beforeAll(async () => {
  const ada = await service().createUser('ada');
  cookie = await service().signIn('ada');
  key = await service().createKey(ada.id);
});

const bad = { 'content-type': 'text/plain' };
const codeOf = (text: string) => (JSON.parse(text) as ProblemBody).code;

describe.for(titled(guarded))('%s', ([, operation]) => {
  const method = methodOf(operation);
  const path = pathOf(operation);

  test('401 — a valid request without a credential, while the same request with one is accepted (rules 3 and 7)', async () => {
    const stranger = await service().call(method, path, exampleCall(operation));
    expect(stranger.status).toBe(401);
    expect(stranger.headers.get('www-authenticate')).toBe('Bearer');
    const known = await service().call(method, path, exampleCall(operation, { headers: { 'x-api-key': key } }));
    expect(known.status).not.toBe(401);
  });

  test('401 — an invalid request without a credential: a 400 would give a stranger information (rule 2)', async () => {
    const wrong = pathOf(operation, { name: '%20', key: '1e3' });
    const body = operation.method === 'get' ? {} : { raw: '{' };
    const answer = await service().call(method, `${wrong}?unknown=1&unknown=2`, { headers: { ...bad, accept: 'text/html' }, ...body });
    expect(answer.status).toBe(401);
  });

  test('401 — a session token, an API key and a bearer token that were never issued', async () => {
    const unknown = `sid=${'x'.repeat(32)}`;
    expect((await service().call(method, path, exampleCall(operation, { cookie: unknown }))).status).toBe(401);
    const stranger = await service().call(method, path, exampleCall(operation, { headers: { 'x-api-key': newKey().key } }));
    expect(stranger.status).toBe(401);
    expect(stranger.headers.get('www-authenticate')).toBe('Bearer');
    const bearer = await service().call(method, path, exampleCall(operation, { headers: { authorization: 'Bearer abc' } }));
    expect(bearer.status).toBe(401);
    expect(bearer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  });

  test('401 — an invalid header credential beside a valid cookie: the cookie is not used instead (rule 6)', async () => {
    const good = await service().call(method, path, exampleCall(operation, { cookie, headers: { 'x-api-key': key } }));
    expect(good.status).not.toBe(401);
    for (const headers of [{ 'x-api-key': 'esk_x' }, { authorization: 'Bearer abc' }, { authorization: 'Basic YWRhOmFkYQ==' }]) {
      expect((await service().call(method, path, exampleCall(operation, { cookie, headers }))).status).toBe(401);
    }
  });
});

describe.for(titled(operations))('%s', ([, operation]) => {
  const method = methodOf(operation);
  const path = pathOf(operation);

  test('400 — two credentials in headers, of two kinds or twice of one (rule 6)', async () => {
    const { raw, headers = {} } = exampleCall(operation);
    const twice = [
      ['x-api-key', key, 'authorization', 'Bearer abc'],
      ['x-api-key', key, 'x-api-key', key],
      ['authorization', 'Bearer abc', 'authorization', 'Bearer abc'],
    ];
    for (const credentials of twice) {
      const answer = await sendRequest(service().url, method, path, [...Object.entries(headers).flat(), ...credentials], raw?.toString());
      expect(answer.status).toBe(400);
      expect(method === 'HEAD' ? answer.headers['problem-code'] : codeOf(answer.text)).toBe('ambiguous-credentials');
    }
  });
});
