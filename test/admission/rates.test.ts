/** The exact bounds of the rate limits, on a clock that the test moves. */
import type { FastifyRequest } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../../src/rights/principal.ts';
import { Problem } from '../../src/problems/errors.ts';
import { AddressLimit, limitUsers } from '../../src/admission/rates.ts';

let milliseconds = 0;
const now = () => milliseconds;
beforeEach(() => {
  milliseconds = 0;
});

/** The number of `count` immediate draws that succeed. */
const granted = (count: number, draw: () => boolean) => Array.from({ length: count }, draw).filter(Boolean).length;

describe('an address', () => {
  test('has a burst of exactly fifty requests, then one each 100 ms (rule 81)', () => {
    const limit = new AddressLimit(now);
    const draw = () => limit.take('192.0.2.1');
    expect(granted(50, draw)).toBe(50);
    expect(granted(1, draw)).toBe(0);
    milliseconds = 99;
    expect(granted(1, draw)).toBe(0);
    milliseconds = 100;
    expect(granted(2, draw)).toBe(1);
    milliseconds = 1_100;
    expect(granted(20, draw)).toBe(10);
  });

  test('accumulates no more than fifty (rule 81)', () => {
    const limit = new AddressLimit(now);
    limit.take('192.0.2.1');
    milliseconds = 3_600_000;
    expect(granted(60, () => limit.take('192.0.2.1'))).toBe(50);
  });

  test('does not affect another address, and is the same with a port or within its /64 (rule 81)', () => {
    const limit = new AddressLimit(now);
    expect(granted(50, () => limit.take('2001:db8::1'))).toBe(50);
    expect([limit.take('2001:db8::2'), limit.take('[2001:db8::3]:443'), limit.take('2001:db8:0:1::1')]).toEqual([false, false, true]);
  });

  test('is removed after 50,000 newer addresses, and not before (rule 81: the memory is bounded)', () => {
    const limit = new AddressLimit(now);
    const others = (count: number) => {
      for (let n = 0; n < count; n++) limit.take(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    };
    granted(50, () => limit.take('192.0.2.1'));
    others(49_999);
    expect(limit.take('192.0.2.1')).toBe(false);
    others(50_000);
    expect(limit.take('192.0.2.1')).toBe(true);
  });
});

test('a user has a burst of exactly five seconds’ worth, with any credential (rule 81)', async () => {
  const principalOf = (id: string) => ({ user: { id } }) as Principal;
  const scheme = async (request: FastifyRequest) => principalOf(request.id);
  const schemes = limitUsers({ sessionCookie: scheme, apiKey: scheme, oauth2: scheme, openId: scheme }, 2, now);
  const ask = async (id: string, way: keyof typeof schemes = 'apiKey') => {
    const request = { id } as FastifyRequest;
    const problem: unknown = await schemes[way](request).catch((error: unknown) => error);
    return problem instanceof Problem ? problem.code : 'served';
  };
  for (let n = 0; n < 10; n++) expect(await ask('ada', n % 2 === 0 ? 'apiKey' : 'sessionCookie')).toBe('served');
  expect([await ask('ada'), await ask('ada', 'oauth2'), await ask('grace')]).toEqual(['rate-limited', 'rate-limited', 'served']);
  milliseconds = 499;
  expect(await ask('ada')).toBe('rate-limited');
  milliseconds = 500;
  expect([await ask('ada'), await ask('ada')]).toEqual(['served', 'rate-limited']);
});

test('faults of the service do not count for an address; an issuer that does not answer does (rule 81)', () => {
  for (const code of ['unavailable', 'busy', 'outcome-unknown', 'internal-error', 'rate-limited'] as const) {
    expect(new Problem(code).limit, code).toBe('none');
  }
  for (const code of ['ambiguous-credentials', 'unauthenticated', 'invalid-token', 'identity-not-linked', 'issuer-unavailable'] as const) {
    expect(new Problem(code).limit, code).toBe('address');
  }
});
