/** Parameters and Accept, for each operation of openapi.yaml: undeclared ones are refused, never ignored. */
import { beforeAll, describe, expect, test } from 'vitest';
import { resolveReference, type Operation } from '../../src/contract/contract.ts';
import { createAjv } from '../support/ajv.ts';
import { document, exampleCall, methodOf, operations, pathOf, titled } from '../support/operations.ts';
import { sendBytes } from '../support/raw.ts';
import { requiredParameters } from '../support/schema-values.ts';
import { useService, type Answer, type ProblemBody } from '../support/service.ts';

const service = useService();
let cookie: string;

beforeAll(async () => {
  const { id } = await service().createUser('eve');
  cookie = await service().openSession(id);
});

/** Sends the operation's example with a fault, so that it has no effect. */
const send = (operation: Operation, path: string, headers: Record<string, string> = {}) =>
  service().call(methodOf(operation), path, exampleCall(operation, { cookie, headers }));

/** Asserts a 400 with this code. All methods but HEAD, whose answer has no body, must have this fault. */
function expectRefusal({ method }: Operation, answer: Answer<ProblemBody>, code: string, fault: object): void {
  expect(answer.status, answer.text).toBe(400);
  if (method === 'head') expect(answer.headers.get('problem-code')).toBe(code);
  else expect(answer.body).toMatchObject({ code, errors: [fault] });
}

describe.for(titled(operations))('%s', ([, operation]) => {
  const path = pathOf(operation);

  test('400 — a query parameter that is undeclared, that cannot be decoded, or that is repeated (rule 69)', async () => {
    const required = requiredParameters(operation, 'query');
    const refuse = async (query: string, fault: object) => {
      const others = Object.entries(required).filter(([name]) => !query.startsWith(`${name}=`));
      const rest = new URLSearchParams(others).toString();
      expectRefusal(operation, await send(operation, `${path}?${query}${rest && `&${rest}`}`), 'malformed-request', fault);
    };
    if (!operation.ignoresUnknownParameters) {
      await refuse('unknown=1', { parameter: 'unknown', code: 'unknown' });
      await refuse('a%20b=1', { parameter: '', position: 1, code: 'unknown' });
      await refuse('__proto__=1', { parameter: '__proto__', code: 'unknown' });
    }
    await refuse('%zz=1', { parameter: '', position: 1, code: 'invalid-encoding' });
    for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
      const takes = createAjv().compile(resolveReference(document, schema));
      await refuse(`${name}=1&${name}=1`, { parameter: name, code: 'repeated' });
      await refuse(`${name}=%ff`, { parameter: name, code: 'invalid-encoding' });
      for (const value of ['', '0', '2', 'true', ' 1', '１']) {
        if (!takes(value)) await refuse(`${name}=${encodeURIComponent(value)}`, { parameter: name });
      }
    }
  });

  if (operation.method !== 'head')
    test('400 — of more than twenty faults the answer lists the first twenty (rule 75)', async () => {
      const pairs = Array.from({ length: 700 }, (_, n) => `u${n}&`).join('');
      for (const query of operation.ignoresUnknownParameters ? [`${pairs}${pairs}`] : [pairs, `${pairs}%zz&u0`]) {
        const answer = await send(operation, `${path}?${query}`);
        expect(answer.status, answer.text).toBe(400);
        expect(answer.body.errors).toHaveLength(20);
        expect(answer.text.length).toBeLessThan(5_120);
      }
    });

  test('414 — a URL of more than 8 KiB (rule 80)', async () => {
    const address = `${path}?${'a'.repeat(8_192)}`;
    const answer = await sendBytes(
      service().url,
      `${methodOf(operation)} ${address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.status).toBe(414);
    if (operation.method === 'head') expect(answer.headers['problem-code']).toBe('uri-too-long');
    else expect(JSON.parse(answer.text)).toMatchObject({ code: 'uri-too-long', detail: expect.stringContaining('8') });
  });
});

const withPath = operations.filter(({ parameters }) => parameters.some((parameter) => parameter.in === 'path'));

describe.for(titled(withPath))('%s', ([, operation]) => {
  const names = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);

  test('400 and 414 — a path parameter that breaks its pattern, is badly escaped, or is too long (rule 69)', async () => {
    for (const name of names) {
      const ask = (value: string) => send(operation, pathOf(operation, { [name]: value }));
      for (const value of ['a%2Fb', '%00', 'x'.repeat(65), '%E2%82%AC', '*', '1%0d%0aX:1']) {
        expectRefusal(operation, await ask(value), name === 'key' ? 'invalid-key' : 'malformed-request', { parameter: name });
      }
      for (const value of ['%', '%zz', '%ff', '%c0%af']) {
        const answer = await ask(value);
        expect(answer.status, value).toBe(400);
        expect(answer.body.code).toBe('malformed-request');
      }
      const long = await ask('x'.repeat(257));
      expect(long.status).toBe(414);
      expect(long.body.code).toBe('uri-too-long');
    }
  });
});

const answeringJson = operations.filter(({ responses }) =>
  Object.values(responses).some(({ content = {} }) => 'application/json' in content),
);

describe.for(titled(answeringJson))('%s', ([, operation]) => {
  const path = pathOf(operation);

  test('406 — an Accept that excludes application/json, while any that allows it is served', async () => {
    const allowing = [
      'application/json',
      '*/*',
      'application/*',
      'text/html, application/json;q=0.1',
      'APPLICATION/JSON; charset=utf-8',
      'text/html;q=0.9, */*;q=0.1',
      'text/*;q=0, application/json',
    ];
    for (const accept of allowing) expect((await send(operation, `${path}?unknown=1`, { accept })).status, accept).toBe(400);
    const rulingOut = [
      'text/html',
      'application/xml, text/*',
      'application/json;q=0',
      '*/*;q=0',
      'application/json; q=0.000, text/html',
      '*/*, application/json;q=0',
      'application/*;q=0, */*',
      'nonsense',
    ];
    for (const accept of rulingOut) {
      const answer = await send(operation, path, { accept });
      expect(answer.status, accept).toBe(406);
      expect(answer.body.code).toBe('not-acceptable');
    }
  });
});

const changes = operations.filter(({ method, operationId }) => method !== 'get' && operationId !== 'runBatch');

test.for(titled(changes))('400 — %s refuses the preference dry-run, since it would make the change', async ([, operation]) => {
  const refused = { parameter: 'Prefer', code: 'not-supported' };
  for (const Prefer of ['dry-run', 'return=minimal, Dry-Run'])
    expectRefusal(operation, await send(operation, pathOf(operation), { Prefer }), 'malformed-request', refused);
});
