/** The common properties of every answer of the server, from a handler, the router, a parser, or the socket. */
import { beforeAll, describe, expect, test } from 'vitest';
import { exampleCall, methodOf, operations, pathOf, titled } from '../support/operations.ts';
import { sendBytes, type RawAnswer } from '../support/raw.ts';
import { useService, type Answer } from '../support/service.ts';

const service = useService();
let cookie: string;

beforeAll(async () => {
  const { id } = await service().createUser('eve');
  cookie = await service().openSession(id);
});

/** Security rule 82; Strict-Transport-Security is sent over https only. */
function expectHeaders(headers: Record<string, unknown>): void {
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  });
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin', 'strict-transport-security'])
    expect(headers).not.toHaveProperty(name);
}

const strict = "default-src 'none'; frame-ancestors 'none'";

/** Asserts the headers and, for a refusal, a problem document that fits its status. */
function expectProper(answer: Answer | RawAnswer, status: number, code?: string): void {
  expect(answer.status, answer.text).toBe(status);
  const headers = answer.headers instanceof Headers ? Object.fromEntries(answer.headers) : answer.headers;
  expectHeaders(headers);
  expect(headers['content-security-policy']).toBe(strict);
  if (code === undefined) return;
  expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
  const { type, instance, ...problem } = JSON.parse(answer.text) as Record<string, string>;
  expect(problem).toMatchObject({ status, code, title: expect.stringMatching(/\w/), detail: expect.stringMatching(/\w/) });
  expect(type).toBe(`http://localhost:3000/problems/${code}`);
  expect(instance).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-7][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
}

describe.for(titled(operations))('%s', ([, operation]) => {
  test('answers of the handler and refusals carry the security headers (rule 82)', async () => {
    const answers = [
      await service().call(methodOf(operation), pathOf(operation), exampleCall(operation, { cookie })),
      await service().call(methodOf(operation), pathOf(operation)),
      await service().call(methodOf(operation), `${pathOf(operation)}?unknown=1`, exampleCall(operation, { cookie })),
    ];
    for (const answer of answers) {
      expectHeaders(Object.fromEntries(answer.headers));
      if (operation.method === 'head') expect(answer.headers.has('problem-code')).toBe(answer.status >= 400);
    }
  });
});

describe('the router', () => {
  const unknown = [
    '/auth/',
    '/AUTH',
    '/auth/unknown',
    '//auth',
    '/auth//profile',
    '/rest/entity',
    '/rest/entity/a/1/',
    '/rest/entity/a/1/b',
    '/.env',
    '/docs/../auth',
  ];

  test.for(unknown)('404 — %s, an unknown path (rule 75)', async (path) => {
    expectProper(await sendBytes(service().url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`), 404, 'not-found');
  });

  test('404 — an unknown path with every method, with and without a body', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']) {
      expectProper(await service().call(method, '/nowhere'), 404, 'not-found');
      expectProper(
        await service().call(method, '/nowhere', { raw: '{', headers: { 'content-type': 'application/json' } }),
        404,
        'not-found',
      );
    }
    const head = await service().call('HEAD', '/nowhere');
    expect(head.status).toBe(404);
    expect(head.headers.get('problem-code')).toBe('not-found');
  });

  test('400 — a path that cannot be decoded, and 414 — one segment that is too long', async () => {
    expectProper(await service().call('GET', '/rest/entity/%zz/1'), 400, 'malformed-request');
    expectProper(await service().call('GET', `/rest/entity/${'x'.repeat(300)}/1`), 414, 'uri-too-long');
  });
});

describe('the files of Swagger UI', () => {
  const get = (headers: Record<string, string>) => service().call('GET', '/docs/static/swagger-ui.css', { headers });

  test('200 — a range is ignored, also one that the file lacks', async () => {
    const { length } = (await get({})).text;
    for (const range of ['bytes=0-10', 'bytes=99999999-', 'bytes=x']) {
      const answer = await get({ range });
      expect([answer.status, answer.text.length, answer.headers.get('accept-ranges')]).toEqual([200, length, null]);
    }
  });

  test('412 — an ETag or a date that is not that of the file, and 200 — its own (rule 75)', async () => {
    const lastModified = (await get({})).headers.get('last-modified') ?? '';
    expect((await get({ 'if-unmodified-since': lastModified })).status).toBe(200);
    expectProblem(await get({ 'if-match': '"other"' }));
    expectProblem(await get({ 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }));
  });

  function expectProblem(answer: Answer): void {
    expect(answer.status, answer.text).toBe(412);
    expect(answer.body).toMatchObject({ status: 412, code: 'precondition-failed' });
  }
});

describe('the HTTP parser', () => {
  const host = 'Host: localhost\r\n';
  const malformed: [string, string][] = [
    ['garbage', 'garbage\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['an unknown version', `GET /auth HTTP/9.9\r\n${host}\r\n`],
    ['a header without a colon', `GET /auth HTTP/1.1\r\n${host}nonsense\r\n\r\n`],
    ['a space before the colon', `GET /auth HTTP/1.1\r\n${host}A : b\r\n\r\n`],
    ['a header that continues in the next line', `GET /auth HTTP/1.1\r\n${host}A: b\r\n c\r\n\r\n`],
    ['a NUL in a header', `GET /auth HTTP/1.1\r\n${host}A: b\0c\r\n\r\n`],
    [
      'Content-Length and Transfer-Encoding together (rule 80)',
      `POST /auth HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two Content-Lengths', `POST /auth HTTP/1.1\r\n${host}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ['a negative Content-Length', `POST /auth HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
    ['a Transfer-Encoding that is not chunked', `POST /auth HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\n\r\n`],
    [
      'a Transfer-Encoding besides chunked (rule 80)',
      `POST /auth HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['no Host', 'GET /auth HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /auth HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ];

  test.for(malformed)('400 — %s (rule 75)', async ([, bytes]) => {
    expectProper(await sendBytes(service().url, bytes), 400, 'malformed-request');
  });

  test('400 — an invalid chunk length', async () => {
    const bytes = `POST /rest/entity/a HTTP/1.1\r\n${host}Cookie: ${cookie}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`;
    expectProper(await sendBytes(service().url, bytes), 400, 'malformed-request');
  });

  test('431 — more than 16 KiB of headers (rule 80)', async () => {
    expectProper(await sendBytes(service().url, `GET /auth HTTP/1.1\r\n${host}A: ${'x'.repeat(20_000)}\r\n\r\n`), 431, 'headers-too-large');
  });

  test('an expectation other than 100-continue is ignored, as RFC 9110 section 10.1.1 allows', async () => {
    const answer = await sendBytes(service().url, `GET /auth HTTP/1.1\r\n${host}Expect: tea\r\nConnection: close\r\n\r\n`);
    expectProper(answer, 401, 'unauthenticated');
  });

  test('an upgrade to another protocol is ignored, and the request is answered', async () => {
    const answer = await sendBytes(service().url, `GET /auth HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    expectProper(answer, 401, 'unauthenticated');
  });
});

describe('the service routes', () => {
  test('have the security headers, and the pages of Swagger UI have their own policy', async () => {
    for (const path of ['/health/live', '/health/ready', '/', '/openapi.yaml', '/openapi.json', '/problems/not-found']) {
      expectProper(await service().call('GET', path), 200);
    }
    for (const [path, status] of [
      ['/docs', 200],
      ['/docs/static/index.html', 302],
      ['/docs/static/swagger-ui.css', 200],
    ] as const) {
      const answer = await service().call('GET', path);
      expect(answer.status, path).toBe(status);
      expectHeaders(Object.fromEntries(answer.headers));
    }
  });
});
