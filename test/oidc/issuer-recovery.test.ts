/** The metric of an issuer that did not answer follows the issuer without any token (rule 49). */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { TestService } from '../support/service.ts';

const clock = new TestClock();
const signing = await TestIssuer.start('signing', clock);
const opaque = await TestIssuer.start('opaque', clock, { opaque: true });
const healthy = await TestIssuer.start('healthy', clock);
let service: TestService;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const entries = [signing.entry(), await opaque.loginEntry({ tokenType: 'opaque' }), healthy.entry()];
  service = await TestService.start({ METRICS_TOKEN: metricsToken, ISSUERS_FILE: await writeIssuers(...entries) }, undefined, clock);
  await service.createUser('ada');
  for (const issuer of [healthy, opaque]) await service.link(issuer, 'alice', 'ada');
});
afterAll(async () => {
  await service.close();
  vi.useRealTimers();
});

const statusOf = async (token: string, by = service) =>
  (await by.call('GET', '/auth', { headers: { authorization: `Bearer ${token}` } })).status;
const isUp = async ({ id }: TestIssuer) => (await scrape(service.url)).value('entity_service_issuer_up', { issuer: id });

/** Lets a minute pass for the service. */
function passMinute(): void {
  clock.advance(60);
  vi.advanceTimersByTime(60_000);
}

test('1 within a minute after the issuer answers again, without a token; before, one request a minute (rule 49)', async () => {
  expect(await statusOf(await healthy.mint())).toBe(200);
  const asked = healthy.requests.length;
  signing.behaviour = 'down';
  expect(await statusOf(await signing.mint())).toBe(503);
  expect(await isUp(signing)).toBe(0);

  for (let minute = 1; minute <= 3; minute++) {
    const { length } = signing.requests;
    passMinute();
    await expect.poll(() => signing.requests.length).toBe(length + 1);
    expect(await isUp(signing)).toBe(0);
  }
  signing.behaviour = 'up';
  passMinute();
  await expect.poll(() => isUp(signing)).toBe(1);

  const { length } = signing.requests;
  passMinute();
  expect(await isUp(signing)).toBe(1);
  expect(signing.requests).toHaveLength(length);
  expect(healthy.requests).toHaveLength(asked);
});

test('1 within a minute after the issuer introspects again, asked about a made-up token', async () => {
  const { accessToken } = await opaque.signIn('alice');
  expect(await statusOf(accessToken)).toBe(200);
  expect(await isUp(opaque)).toBe(1);
  opaque.answers.set('/token/introspection', () => new Response('<p>no</p>', { status: 503 }));
  clock.advance(31);
  expect(await statusOf(accessToken)).toBe(503);
  expect(await isUp(opaque)).toBe(0);

  const asked = opaque.introspections;
  passMinute();
  await expect.poll(() => opaque.introspections).toBe(asked + 1);
  expect(await isUp(opaque)).toBe(0);
  // The page of a proxy that does not reach the issuer.
  opaque.answers.set('/token/introspection', () => new Response('<h1>default backend</h1>', { status: 404 }));
  passMinute();
  await expect.poll(() => opaque.introspections).toBe(asked + 2);
  expect(await isUp(opaque)).toBe(0);
  opaque.answers.clear();
  passMinute();
  await expect.poll(() => isUp(opaque)).toBe(1);
});

test('after its stop the service sends the issuer no request', async () => {
  const replica = await service.replica({ ISSUERS_FILE: await writeIssuers(signing.entry()) }, clock);
  signing.behaviour = 'down';
  expect(await statusOf(await signing.mint(), replica)).toBe(503);
  await replica.close();
  const { length } = signing.requests;
  passMinute();
  signing.behaviour = 'up';
  await fetch(`${signing.url}/jwks`);
  expect(signing.requests.slice(length)).toEqual(['/jwks']);
});
