/** The place of a credential, for each operation of openapi.yaml that requires one: only its own header or cookie. */
import { beforeAll, describe, expect, test } from 'vitest';
import { exampleCall, guarded, methodOf, pathOf, titled } from '../support/operations.ts';
import { useService } from '../support/service.ts';

const service = useService();
let token: string;
let key: string;

beforeAll(async () => {
  const ada = await service().createUser('ada');
  const cookie = await service().openSession(ada.id);
  token = cookie.slice(cookie.indexOf('=') + 1);
  key = await service().createKey(ada.id);
});

describe.for(titled(guarded))('%s', ([, operation]) => {
  test('401 — a valid credential in the query, in the body or in another header is ignored (rule 5)', async () => {
    const method = methodOf(operation);
    const path = pathOf(operation);
    const known = await service().call(method, path, exampleCall(operation, { headers: { 'x-api-key': key } }));
    expect(known.status).not.toBe(401);
    const credentials = { access_token: key, api_key: key, 'x-api-key': key, sid: token };
    const headers = { 'x-auth-token': key, 'api-key': key, 'x-session': token, 'proxy-authorization': `Bearer ${key}` };
    const elsewhere = [
      service().call(method, `${path}?${new URLSearchParams(credentials).toString()}`, exampleCall(operation)),
      service().call(method, path, exampleCall(operation, { headers })),
      ...(method === 'POST'
        ? [service().call(method, path, { form: credentials }), service().call(method, path, { json: credentials })]
        : []),
    ];
    for (const { status } of await Promise.all(elsewhere)) expect(status).toBe(401);
  });
});
