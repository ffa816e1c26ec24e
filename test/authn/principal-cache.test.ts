import { beforeEach, describe, expect, test } from 'vitest';
import { PrincipalCache } from '../../src/authn/principal-cache.ts';
import type { Principal } from '../../src/rights/principal.ts';

const long = 60_000;
const principal = (name: string): Principal => ({
  user: { id: name, name, displayName: name, attributes: {} },
  profile: undefined,
  claims: {},
  timeZone: null,
  locale: 'en',
  method: 'password',
  credential: 'session:1',
  issuer: null,
  authenticatedAt: new Date(0),
  session: undefined,
  grants: new Map(),
  scopes: null,
});
const [ada, bob] = [principal('ada'), principal('bob')];

let now: number;
let cache: PrincipalCache;
beforeEach(() => {
  now = 1_000;
  cache = new PrincipalCache(() => now);
  cache.enable(true);
});

/** Caches a verified principal as the schemes do, with a statement that takes `statementMs`. */
function verify(hash: string, subject: string, who = ada, { lifeMs = long, statementMs = 0 } = {}): void {
  const started = cache.startVerification();
  now += statementMs;
  cache.store(hash, subject, who, lifeMs, started);
}

test('a verified principal is found under its hash only, and counted', () => {
  expect(cache.find('a')).toBe(undefined);
  verify('a', 'session 1');
  expect([cache.find('a'), cache.find('b')]).toEqual([ada, undefined]);
  expect([cache.hits, cache.misses, cache.size]).toEqual([1, 2, 1]);
});

describe('a verification is not cached', () => {
  test.each(['session 1', 'session 2', 'key 1', 'user 7', 'all'])(
    'if the notification "%s" arrives during the verifying statement, which may have read an older state (rule 17)',
    (notice) => {
      const before = cache.startVerification();
      cache.forget(notice);
      cache.store('a', 'session 1', ada, long, before);
      expect(cache.find('a')).toBe(undefined);
      verify('a', 'session 1');
      expect(cache.find('a'), 'a verification that began later').toBe(ada);
    },
  );

  test('if the notification connection was down at any time since the verification began (rule 17)', () => {
    const before = cache.startVerification();
    cache.enable(false);
    cache.enable(true);
    cache.store('a', 'session 1', ada, long, before);
    expect(cache.find('a')).toBe(undefined);
  });

  test('if it began before the notification connection was up', () => {
    const other = new PrincipalCache(() => now);
    const before = other.startVerification();
    other.store('a', 'session 1', ada, long, before);
    other.enable(true);
    other.store('b', 'session 2', bob, long, before);
    expect([other.find('a'), other.find('b')]).toEqual([undefined, undefined]);
  });
});

describe('a cached principal is removed', () => {
  test('by its name, under all its hashes, and no other principal is (rule 17)', () => {
    verify('a', 'session 1');
    verify('a2', 'session 1');
    verify('b', 'session 2', bob);
    verify('k', 'key 1', bob);
    cache.forget('session 1');
    expect(['a', 'a2', 'b', 'k'].map((hash) => cache.find(hash))).toEqual([undefined, undefined, bob, bob]);
    cache.forget('key 1');
    expect(['b', 'k'].map((hash) => cache.find(hash))).toEqual([bob, undefined]);
    expect(cache.size).toBe(1);
  });

  test('by its name after another of its hashes has ended (rule 17)', () => {
    verify('a', 'session 1', ada, { lifeMs: 100 });
    verify('a2', 'session 1');
    now += 100;
    expect([cache.find('a'), cache.find('a2')]).toEqual([undefined, ada]);
    cache.forget('session 1');
    expect(cache.find('a2')).toBe(undefined);
  });

  test.each(['user 7', 'all', 'anything else'])('with all others by "%s" (rule 17)', (notice) => {
    verify('a', 'session 1');
    verify('k', 'key 1', bob);
    cache.forget(notice);
    expect(['a', 'k'].map((hash) => cache.find(hash))).toEqual([undefined, undefined]);
    expect(cache.size).toBe(0);
  });

  test('at once when the notification connection goes down, and is not restored when it is up again (rule 17)', () => {
    verify('a', 'session 1');
    cache.enable(false);
    expect([cache.find('a'), cache.size]).toEqual([undefined, 0]);
    verify('a', 'session 1');
    expect(cache.find('a'), 'nothing is cached while it is down').toBe(undefined);
    cache.enable(true);
    expect(cache.find('a')).toBe(undefined);
  });
});

describe('a cached principal expires', () => {
  test('three seconds after its verification began, even after a slow statement (rule 17)', () => {
    verify('a', 'session 1', ada, { statementMs: 2_000 });
    now += 999;
    expect(cache.find('a')).toBe(ada);
    now += 1;
    expect(cache.find('a')).toBe(undefined);
    expect(cache.size).toBe(0);
  });

  test('with its session, key or token, counted from the start of the verification (rule 12)', () => {
    verify('a', 'session 1', ada, { lifeMs: 600, statementMs: 100 });
    now += 499;
    expect(cache.find('a')).toBe(ada);
    now += 1;
    expect(cache.find('a')).toBe(undefined);
  });

  test('as the oldest, when there are ten thousand', () => {
    for (let n = 0; n < 10_000; n++) verify(`hash ${n}`, `session ${n}`);
    verify('one more', 'session 0');
    expect([cache.size, cache.find('hash 0'), cache.find('hash 1')]).toEqual([10_000, undefined, ada]);
    cache.forget('session 0');
    expect(cache.find('one more')).toBe(undefined);
  });
});
