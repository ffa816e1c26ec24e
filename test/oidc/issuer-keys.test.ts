/** The keys of an issuer: when they are fetched, how long they are used, and what does not cause another fetch (rule 49). */
import { describe, expect, test } from 'vitest';
import { issuerTimeoutMs } from '../../src/oidc/tokens/issuer-http.ts';
import { IssuerKeys } from '../../src/oidc/tokens/keys.ts';
import { readIssuers } from '../../src/oidc/issuers-file/read.ts';
import { TestClock, TestIssuer, writeIssuers, type Behaviour } from '../support/issuer.ts';

const corp = await TestIssuer.start('corp');

async function keysOf(issuer: TestIssuer, timeoutMs?: number): Promise<{ keys: IssuerKeys; clock: TestClock; failures: string[] }> {
  const [settings] = await readIssuers(await writeIssuers(issuer.entry()), {});
  if (!settings) throw new Error('no issuer');
  const clock = new TestClock();
  const failures: string[] = [];
  const onError = (error: unknown) => void failures.push(error instanceof Error ? error.message : String(error));
  const keys = new IssuerKeys(settings, { now: clock.steady, onError, ...(timeoutMs !== undefined && { timeoutMs }) });
  issuer.behaviour = 'up';
  issuer.requests.length = 0;
  return { keys, clock, failures };
}

const ask = async (keys: IssuerKeys, kid: string) => await keys.find({ alg: 'RS256', kid }, { payload: '', signature: '' });
const known = (keys: IssuerKeys) => ask(keys, corp.key.kid);
const unavailable = { code: 'issuer-unavailable', status: 503 };

describe('fetching', () => {
  test('keys are fetched with the first token, once for all concurrent tokens (rule 49)', async () => {
    const { keys } = await keysOf(corp);
    expect(corp.requests).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => known(keys)));
    expect(corp.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  test('keys are used for ten minutes and then fetched again, without a new discovery (rule 49)', async () => {
    const { keys, clock } = await keysOf(corp);
    await known(keys);
    clock.advance(599);
    await known(keys);
    expect(corp.keyRequests).toBe(1);
    clock.advance(2);
    await known(keys);
    expect(corp.requests).toEqual(['/.well-known/openid-configuration', '/jwks', '/jwks']);
  });

  test('a withdrawn key is used for at most ten minutes (rule 49)', async () => {
    const { keys, clock } = await keysOf(corp);
    const old = corp.key.kid;
    await ask(keys, old);
    await corp.rotate();
    clock.advance(601);
    await expect(ask(keys, old)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    await expect(ask(keys, corp.key.kid)).resolves.toBeDefined();
  });

  test('a new key is found at once, if the last fetch was thirty seconds ago (rule 49)', async () => {
    const { keys, clock } = await keysOf(corp);
    await known(keys);
    await corp.rotate();
    clock.advance(29);
    await expect(known(keys), 'the key may be new').rejects.toMatchObject({ ...unavailable, headers: { 'Retry-After': '1' } });
    clock.advance(2);
    await expect(known(keys)).resolves.toBeDefined();
    expect(corp.keyRequests).toBe(2);
  });

  test('an unknown key is refused after a fetch for it, and is 503 while no fetch is due (rule 49)', async () => {
    const { keys, clock } = await keysOf(corp);
    await expect(ask(keys, 'unknown'), 'the first fetch').rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    await expect(ask(keys, 'unknown')).rejects.toMatchObject({ ...unavailable, headers: { 'Retry-After': '30' } });
    clock.advance(31);
    await expect(ask(keys, 'unknown')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    expect(corp.keyRequests).toBe(2);
  });

  test('a flood of unknown keys causes one fetch in thirty seconds (rule 49)', async () => {
    const { keys, clock } = await keysOf(corp);
    await known(keys);
    clock.advance(31);
    const flood = () => Promise.allSettled(Array.from({ length: 200 }, (_, index) => ask(keys, `unknown-${index}`)));
    expect((await flood()).every(({ status }) => status === 'rejected')).toBe(true);
    await flood();
    clock.advance(28);
    await flood();
    expect(corp.keyRequests).toBe(2);
    await expect(known(keys)).resolves.toBeDefined();
  });
});

describe('an issuer that does not answer', () => {
  test.each<[Behaviour, RegExp]>([
    ['down', /does not give its keys: ./],
    ['redirecting', /status 302/],
    ['endless', /more than 262144 bytes/],
    ['nonsense', /issuer/],
  ])(
    '%s at first is 503 with Retry-After, with one request in thirty seconds, and recovers by itself (rule 49)',
    async (behaviour, message) => {
      const { keys, clock, failures } = await keysOf(corp);
      corp.behaviour = behaviour;
      await expect(known(keys)).rejects.toMatchObject({ ...unavailable, headers: { 'Retry-After': '30' } });
      const asked = corp.requests.length;
      clock.advance(12);
      await Promise.all(Array.from({ length: 20 }, () => expect(known(keys)).rejects.toMatchObject(unavailable)));
      await expect(known(keys)).rejects.toMatchObject({ headers: { 'Retry-After': '18' } });
      expect(corp.requests).toHaveLength(asked);
      expect(failures).toEqual([expect.stringMatching(message)]);
      corp.behaviour = 'up';
      clock.advance(19);
      await expect(known(keys)).resolves.toBeDefined();
    },
  );

  test('a silent issuer has a time limit, in the service five seconds (rule 49)', async () => {
    const { keys, failures } = await keysOf(corp, 100);
    corp.behaviour = 'silent';
    await expect(known(keys)).rejects.toMatchObject(unavailable);
    expect(failures).toEqual([expect.stringMatching(/aborted|timeout/)]);
    expect(issuerTimeoutMs).toBe(5_000);
  });

  test('redirected or endless keys are refused, also after a successful discovery (rule 49)', async () => {
    for (const behaviour of ['redirecting', 'endless', 'nonsense'] as const) {
      const { keys, clock } = await keysOf(corp);
      await known(keys);
      corp.behaviour = behaviour;
      clock.advance(3_601);
      await expect(known(keys)).rejects.toMatchObject(unavailable);
    }
  });

  test('keys are used for up to an hour, then it is 503 (rule 49)', async () => {
    const { keys, clock, failures } = await keysOf(corp);
    await known(keys);
    corp.behaviour = 'down';
    clock.advance(601);
    await expect(known(keys)).resolves.toBeDefined();
    expect(failures).toHaveLength(1);
    clock.advance(2_990);
    await expect(known(keys)).resolves.toBeDefined();
    clock.advance(10);
    await expect(known(keys)).rejects.toMatchObject(unavailable);
  });

  test('after a failed fetch the next tokens do not wait, while old keys are usable', async () => {
    // Waiting for this time limit would exceed that of the test.
    const { keys, clock } = await keysOf(corp, 300_000);
    await known(keys);
    corp.behaviour = 'down';
    clock.advance(601);
    await known(keys);
    corp.behaviour = 'silent';
    clock.advance(31);
    await known(keys);
    await expect.poll(() => corp.requests.length).toBe(4);
  });

  test('an unknown key is 503 while the issuer is unreachable, not 401 (rule 49)', async () => {
    const { keys, clock } = await keysOf(corp);
    await known(keys);
    corp.behaviour = 'down';
    clock.advance(31);
    await expect(ask(keys, 'unknown')).rejects.toMatchObject(unavailable);
    await expect(known(keys)).resolves.toBeDefined();
  });
});

describe('discovery', () => {
  test('an issuer whose metadata has another name, even by a final slash, is refused (rule 45)', async () => {
    const [settings] = await readIssuers(await writeIssuers(corp.entry({ issuer: `${corp.url}/` })), {});
    if (!settings) throw new Error('no issuer');
    corp.behaviour = 'up';
    const failures: unknown[] = [];
    const keys = new IssuerKeys(settings, { now: new TestClock().steady, onError: (error) => failures.push(error) });
    await expect(known(keys)).rejects.toMatchObject(unavailable);
    expect(failures).toEqual([expect.objectContaining({ message: `${corp.url}/ does not give its keys: it calls itself ${corp.url}` })]);
  });
});
