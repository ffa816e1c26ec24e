/** The bodies that an operation reads, for each operation of openapi.yaml: an undeclared body never reaches a validator or a handler. */
import { beforeAll, describe, expect, test } from 'vitest';
import { exampleBody, methodOf, operations, pathOf, titled, titledBodies, urlOf } from '../support/operations.ts';
import { sendBytes, type RawAnswer } from '../support/raw.ts';
import { useService, type Call, type ProblemBody } from '../support/service.ts';

const service = useService({ BODY_LIMIT_BYTES: '16384' });
let ada: string;

beforeAll(async () => {
  ada = (await service().createUser('ada', null)).id;
});

const everyType = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
];

/** Whether the answer says that a body is missing. */
function isMissing({ status, text }: RawAnswer): boolean {
  const { errors: [first] = [] } = JSON.parse(text) as ProblemBody;
  return status === 400 && first?.pointer === '' && first.code === 'required';
}

describe.for(titledBodies)('%s', ([, { operation, type }]) => {
  const method = methodOf(operation);
  const path = pathOf(operation);
  const declared = Object.keys(operation.requestBody?.content ?? {});
  const { text } = exampleBody(operation, type);
  /** The handler reads the body, after it has refused this caller. */
  const isStreamed = operation.streamsBody;
  let cookie: string;
  beforeAll(async () => {
    cookie = await service().openSession(ada);
  });
  const send = (call: Call) => service().call(method, path, { ...call, cookie });
  const bytes = (...lines: string[]) => [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Cookie: ${cookie}`, ...lines].join('\r\n');

  test('415 — a body of undeclared type, charset or encoding, with the declared types in Accept-Post (rules 71, 73 and 74)', async () => {
    const undeclared = [
      ...everyType.filter((other) => !declared.includes(other)).map((other) => ({ 'content-type': other })),
      { 'content-type': `${type}; charset=latin1` },
      { 'content-type': `${type}; charset=utf-16` },
      { 'content-type': `${type}x` },
      { 'content-type': `${type}; charset=utf-8; charset=latin1` },
      { 'content-type': 'nonsense' },
      { 'content-type': type, 'content-encoding': 'gzip' },
      { 'content-type': type, 'content-encoding': 'identity' },
    ];
    for (const headers of undeclared) {
      const answer = await send({ headers, raw: text });
      expect(answer.status, JSON.stringify(headers)).toBe(415);
      expect(answer.body.code).toBe('unsupported-media-type');
      expect(answer.headers.get('accept-post')).toBe(declared.join(', '));
    }
    // fetch adds a type for text, but not for bytes.
    expect((await send({ raw: Buffer.from(text) })).status, 'no type').toBe(415);
  });

  test('the declared type is accepted in any case, with or without charset=utf-8', async () => {
    for (const same of [type, type.toUpperCase(), `${type};charset=UTF-8`, `${type} ; charset="utf-8"`]) {
      const answer = await send({ headers: { 'content-type': same }, raw: '[' });
      expect(answer.status, same).toBe(isStreamed ? 403 : 400);
      expect(answer.body.errors?.[0], 'the parser has read a body').not.toMatchObject({ pointer: '', code: 'required' });
    }
  });

  const required = operation.requestBody?.required === true;

  test(`${required ? '400 — a missing body' : 'a missing body is accepted'}, with or without Content-Type`, async () => {
    const ways = [
      bytes('', ''),
      bytes('Content-Length: 0', '', ''),
      bytes(`Content-Type: ${type}`, '', ''),
      bytes(`Content-Type: ${type}`, 'Content-Length: 0', '', ''),
    ];
    for (const way of ways) {
      const answer = await sendBytes(service().url, way);
      expect(isMissing(answer), `${way}${answer.text}`).toBe(required);
    }
  });

  // import-entities.test.ts has the limits of a body that the handler reads.
  if (isStreamed) return;

  test('400 — an announced body that is empty', async () => {
    const ways = [
      bytes(`Content-Type: ${type}`, 'Content-Length: 00', '', ''),
      bytes(`Content-Type: ${type}`, 'Transfer-Encoding: chunked', '', '0', '', ''),
    ];
    for (const way of ways) {
      const answer = await sendBytes(service().url, way);
      expect(isMissing(answer), `${way}${answer.text}`).toBe(true);
    }
  });

  test('413 — a body over the limit, with or without Content-Length (rules 70 and 71)', async () => {
    const isLarge = ['createEntities', 'runBatch'].includes(operation.operationId);
    const limit = declared.includes('application/x-www-form-urlencoded') ? 8_192 : isLarge ? 4_194_304 : 16_384;
    const filling = type === 'application/json' ? ' ' : '&';
    const within = await send({ headers: { 'content-type': type }, raw: '['.padEnd(limit, filling) });
    expect(within.status).toBe(400);
    const large = '['.padEnd(limit + 1, filling);
    const announced = await send({ headers: { 'content-type': type }, raw: large });
    expect(announced.status).toBe(413);
    expect(announced.body).toMatchObject({ code: 'content-too-large', detail: expect.stringMatching(/\d/) });
    const chunks = bytes(`Content-Type: ${type}`, 'Transfer-Encoding: chunked', '', large.length.toString(16), large, '0', '', '');
    expect((await sendBytes(service().url, chunks)).status).toBe(413);
  });
});

const withoutBody = operations.filter(
  (operation) => operation.requestBody === undefined && operation.method !== 'get' && operation.method !== 'head',
);

describe.for(titled(withoutBody))('%s', ([, operation]) => {
  const method = methodOf(operation);
  const path = urlOf(operation);
  const status = async ({ cookie, ...call }: Call) => {
    const answer = await service().call(method, path, { ...call, cookie: cookie ?? (await service().openSession(ada)) });
    return answer.status;
  };

  test('a body of at most 1 KiB is ignored, whatever its type, and so is the type of an empty one (rule 73)', async () => {
    const plain = await status({});
    expect([200, 403, 404]).toContain(plain);
    for (const type of [...everyType, 'nonsense', 'a/b; c', ';']) {
      for (const raw of ['', 'a=%zz&a=1'.padEnd(1_024, '{')]) {
        expect(await status({ headers: { 'content-type': type }, raw }), `${type} ${raw.length}`).toBe(plain);
      }
    }
    expect(await status({ headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, raw: '{}' })).toBe(plain);
    expect(await status({ raw: Buffer.from('x') })).toBe(plain);
  });

  test('413 — a body over 1 KiB, whatever its type, and nothing is done (rule 73)', async () => {
    const cookie = await service().openSession(ada);
    for (const type of everyType) {
      expect(await status({ cookie, headers: { 'content-type': type }, raw: 'x'.repeat(1_025) }), type).toBe(413);
    }
    expect((await service().call('POST', '/auth/refresh', { cookie })).status, 'the token is still rotated').toBe(200);
  });
});
