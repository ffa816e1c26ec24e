/** Methods that a path does not have: 405 with those that it has. HEAD is there wherever GET reads. */
import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { methodOf, operations, pathOf } from '../support/operations.ts';
import { sendBytes, sendRequest } from '../support/raw.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const token = 'x'.repeat(32);
const service = useService({ METRICS_TOKEN: token });
const paths = [...new Set(operations.map(({ path }) => path))];

describe.for(paths)('%s', (path) => {
  const declared = operations.filter((operation) => operation.path === path);
  const [first] = declared;
  const url = first ? pathOf(first) : path;
  const reads = declared.some((operation) => operation.method === 'get' && '200' in operation.responses);
  const methods = new Set([...declared.map(methodOf), ...(reads ? ['HEAD'] : [])]);
  const allowed = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].filter((method) => methods.has(method));

  test('405 — every other method that Node accepts, with exactly the methods of the path in Allow (rule 26)', async () => {
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

describe('paths outside the contract', () => {
  test.for([
    '/',
    '/documentation',
    '/health/live',
    '/health/ready',
    '/metrics',
    '/openapi.yaml',
    '/openapi.json',
    '/problems/not-found',
    '/docs',
    '/docs/',
    '/docs/json',
    '/docs/yaml',
    '/docs/types',
    '/docs/static/swagger-ui.css',
    '/docs/static/oauth2-redirect.js',
  ])('405 — any other method on %s, with Allow, and HEAD answers as GET (rule 26)', async (path) => {
    const headers = ['authorization', `Bearer ${token}`];
    const got = await sendRequest(service().url, 'GET', path, headers);
    expect(got.status).toBe(200);
    const head = await sendRequest(service().url, 'HEAD', path, headers);
    expect([head.status, head.text, head.headers['content-type']]).toEqual([got.status, '', got.headers['content-type']]);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
      const answer = await sendRequest(service().url, method, path, headers);
      expect([answer.status, answer.headers.allow], method).toEqual([405, 'GET, HEAD']);
      expect((JSON.parse(answer.text) as ProblemBody).code).toBe('method-not-allowed');
    }
  });

  test('404 — a path that no method has', async () => {
    for (const method of ['OPTIONS', 'POST', 'HEAD']) expect((await sendRequest(service().url, method, '/health/other')).status).toBe(404);
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
