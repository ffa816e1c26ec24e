/** Methods that openapi.yaml does not declare, on each path: 405 with the declared ones, and no implicit HEAD. */
import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { methodOf, operations, pathOf } from '../support/operations.ts';
import { sendBytes, sendRequest } from '../support/raw.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const service = useService();
const paths = [...new Set(operations.map(({ path }) => path))];

describe.for(paths)('%s', (path) => {
  const declared = operations.filter((operation) => operation.path === path);
  const [first] = declared;
  const url = first ? pathOf(first) : path;
  const allowed = declared.map(methodOf);

  test('405 — every undeclared method that Node accepts, with exactly the declared ones in Allow (rule 26)', async () => {
    const others = METHODS.filter((method) => !allowed.includes(method) && method !== 'CONNECT');
    expect(others).toEqual(expect.arrayContaining(['OPTIONS', 'TRACE', 'PROPFIND', 'PATCH', 'QUERY', 'M-SEARCH']));
    for (const method of others) {
      const answer = await sendRequest(service().url, method, url);
      expect(answer.status, method).toBe(405);
      expect(answer.headers.allow, method).toBe(allowed.join(', '));
      if (method === 'HEAD') expect(answer.headers['problem-code']).toBe('method-not-allowed');
      else expect((JSON.parse(answer.text) as ProblemBody).code, method).toBe('method-not-allowed');
    }
  });

  test('405 — also with a body of any type, and before credentials are checked (rule 1)', async () => {
    const method = allowed.includes('PUT') ? 'PATCH' : 'PUT';
    for (const type of ['application/json', 'text/plain', 'nonsense']) {
      const answer = await sendRequest(service().url, method, `${url}?unknown=1`, ['content-type', type, 'x-api-key', 'bad'], '{');
      expect(answer.status).toBe(405);
    }
  });
});

describe('methods that no path has', () => {
  test('400 — a method that HTTP does not define', async () => {
    const answer = await sendBytes(service().url, 'FETCH /auth HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'malformed-request' });
  });

  test('405 — CONNECT, which would make the server a proxy', async () => {
    const answer = await sendBytes(service().url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(answer.status).toBe(405);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'method-not-allowed' });
  });
});
