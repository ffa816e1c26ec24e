/** What a problem expects in place of a value that a pattern of the contract refuses. */
import { beforeAll, describe, expect, test } from 'vitest';
import { operationsOf, resolveReference } from '../../src/contract/contract.ts';
import { expectedValues } from '../../src/problems/faults.ts';
import { locales } from '../../src/locales/negotiate.ts';
import { declareType } from '../support/entities.ts';
import { document } from '../support/operations.ts';
import { useService, type Call } from '../support/service.ts';

interface Patterned {
  pattern: string;
  format?: string;
  'x-expected'?: { kind: keyof typeof expectedValues } & Record<string, string>;
}

/** The schemas of the input with a pattern, each once. */
const patterned = new Set<Patterned>();
const seen = new Set<unknown>();
function walk(value: unknown): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if ('$ref' in value && typeof value.$ref === 'string') return walk(resolveReference<unknown>(document, { $ref: value.$ref }));
  if ('pattern' in value && typeof value.pattern === 'string') patterned.add(value as Patterned);
  for (const inner of Object.values(value)) walk(inner);
}
for (const { parameters, requestBody } of operationsOf(document)) {
  parameters.forEach(({ schema }) => walk(schema));
  Object.values(requestBody?.content ?? {}).forEach(({ schema }) => walk(schema));
}

describe('x-expected', () => {
  test('stands beside each pattern of the input, unless the value has a format that is checked first', () => {
    expect(patterned.size).toBeGreaterThan(10);
    const silent = [...patterned].filter((schema) => !schema['x-expected'] && schema.format === undefined);
    expect(silent.map(({ pattern }) => pattern)).toEqual([]);
  });

  const declared = [...patterned].flatMap((schema) => (schema['x-expected'] ? [[schema.pattern, schema['x-expected']] as const] : []));

  test.for(declared)('of %s says what the pattern accepts', ([pattern, { kind, ...values }]) => {
    const accepts = (text: string) => new RegExp(pattern).test(text);
    expect(Object.keys(expectedValues[kind])).toEqual(expect.arrayContaining(Object.keys(values)));
    const { minimum, maximum, count = '', characters = '', first = characters, example, other } = values;
    for (const good of [minimum, maximum, example, other]) if (good !== undefined) expect([good, accepts(good)]).toEqual([good, true]);
    if (minimum !== undefined) expect(accepts(String(BigInt(minimum) - 1n))).toBe(false);
    if (maximum !== undefined) expect(accepts(String(BigInt(maximum) + 1n))).toBe(false);
    if (kind !== 'characters') return;
    const [least = NaN, most = least] = count.split('–').map(Number);
    const [letter = ''] = first;
    const accepted = [least - 1, least, most, most + 1].map((length) => accepts(letter.repeat(length)));
    expect(accepted).toEqual([false, true, true, false]);
  });
});

describe('the answer to a wrong value', () => {
  const service = useService();
  let cookie: string;
  beforeAll(async () => {
    const grants = { '*': ['create', 'read', 'update', 'delete', 'type'] } as const;
    cookie = await service().openSession((await service().createUser('ada', { '*': [...grants['*']] })).id);
    await declareType(service(), 'order', {
      required: ['total'],
      properties: {
        total: { type: 'string', format: 'decimal' },
        customer: { type: ['string', 'null'], format: 'int64' },
        on: { type: 'string', format: 'date' },
        seats: { type: ['integer', 'null'], format: 'int32' },
        floor: { type: 'integer', nullable: true },
        due: { type: 'string', format: 'date', nullable: true },
      },
    });
  });

  const name = '1–64 of these characters: A–Z a–z 0–9 _ . -, the first of A–Z a–z, as customer';
  const profile = '1–64 of these characters: A–Z a–z 0–9 _ . - U+0020, as sales';
  const version = 'an integer from 1 to 999999999999999999';
  const digest = '64 of these characters: 0–9 a–f';
  const header = (field: string, value: string): Call => ({ json: { total: '1' }, headers: { [field]: value } });
  test.for<[request: string, call: Call, expected: string]>([
    ['GET /rest/entity/order?limit=0', {}, 'an integer from 1 to 1000'],
    ['GET /rest/entity/order/1/history?limit=101', {}, 'an integer from 1 to 100'],
    ['GET /rest/entity/order/1?version=0', {}, version],
    ['POST /rest/entity/order/1/restore?version=x', {}, version],
    ['GET /rest/entity/order/1?asOf=yesterday', {}, 'date-time, as 2026-11-20T08:00:00Z'],
    ['GET /rest/entity/order/1?asOf=2026-02-30T08:00:00Z', {}, 'date-time, as 2026-11-22T14:30:00Z'],
    ['GET /rest/entity/1', {}, name],
    ['GET /rest/entity/order/x', {}, 'int64, as 42'],
    ['GET /rest/entity/order', { headers: { 'consistency-token': 'x' } }, '16 of these characters: A–Z a–z 0–9 _ -'],
    [
      'POST /rest/entity/order',
      header('idempotency-key', '"'),
      '1–255 of these characters: ASCII (U+0020–U+007E), as 8e03978e-40d5-43dd-bc93-6894a57f9324',
    ],
    ['DELETE /rest/entity-type/order?confirm=x', {}, digest],
    [
      'POST /rest/entity/order/import?fromRow=0',
      { raw: '{}', headers: { 'content-type': 'application/x-ndjson' } },
      'an integer from 1 to 999999999999999',
    ],
    ['POST /rest/batch', { json: { operations: [{ op: 'delete', name: 'order', key: '1', ifMatch: '0' }] } }, version],
    ['POST /rest/batch', { json: { operations: [{ op: 'delete', name: '1', key: '1' }] } }, name],
    ['POST /auth/keys', { json: { name: 'a\u0001' } }, 'text without control characters'],
    ['POST /auth/keys', { json: { name: 'a', profile: '#' } }, profile],
    ['POST /auth/keys', { json: { name: 'a', scopes: [{ entity: '1', actions: ['read'] }] } }, `${name}, or *`],
    ['DELETE /auth/keys/x', {}, '12 of these characters: 0–9 A–Z a–z, as 4fT9xKq2LmZa'],
    ['POST /rest/entity/order', { json: { total: 1.5 } }, 'decimal, as "12.50"'],
    ['POST /rest/entity/order', { json: {} }, 'decimal, as "12.50"'],
    ['POST /rest/entity/order', { json: { total: '1', customer: 42 } }, 'int64, as "42", or null'],
    ['POST /rest/entity/order', { json: { total: '1', customer: '042' } }, 'int64, as "42", or null'],
    ['POST /rest/entity/order', { json: { total: '1', on: 20 } }, 'date, as 2026-11-22'],
    ['POST /rest/entity/order', { json: { total: '1', seats: 2 ** 31 } }, 'int32, or null'],
    ['POST /rest/entity/order', { json: { total: '1', floor: 'first' } }, 'one of integer, null'],
    ['POST /rest/entity/order', { json: { total: '1', due: 20 } }, 'date, as 2026-11-22, or null'],
    ['POST /rest/entity/order', { json: { total: '1', due: 'soon' } }, 'date, as 2026-11-22, or null'],
  ])('400 or 422 — %s %j: %s', async ([request, call, expected]) => {
    const [method = '', path = ''] = request.split(' ');
    for (const locale of locales) {
      const answer = await service().call(method, path, { cookie, ...call, headers: { ...call.headers, 'accept-language': locale } });
      expect(answer.status, answer.text).toBe(answer.body.code === 'validation-failed' ? 422 : 400);
      const texts = (answer.body.errors as { expected?: string }[] | undefined)?.map((fault) => fault.expected) ?? [];
      if (locale === 'en') expect(texts).toEqual([expected]);
      expect(texts).toEqual([expect.not.stringMatching(/[\^${}[\]]/)]);
    }
  });
});
