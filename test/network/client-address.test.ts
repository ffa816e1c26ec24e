/** The client address that a proxy sends, as the limits, the log and the audit trail use it. */
import { describe, expect, test } from 'vitest';
import { sendRequest } from '../support/raw.ts';
import { useService, type Answer } from '../support/service.ts';

const service = useService({ TRUST_PROXY: '127.0.0.1,10.0.0.0/8' });

let people = 0;
/** Signs in with a wrong password and a new name, so that only the address counts. */
function guess(forwardedFor: string): Promise<Answer> {
  const form = { user: `person ${(people += 1)}`, password: 'not a password at all' };
  return service().call('POST', '/auth', { form, headers: { 'x-forwarded-for': forwardedFor } });
}

async function statusesOf(count: number, address: (n: number) => string): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 1; n <= count; n++) statuses.push((await guess(address(n))).status);
  return statuses;
}

const twentyAllowed = (count: number) => Array.from({ length: count }, (_, n) => (n < 20 ? 401 : 429));

describe('behind a proxy that writes ports', { timeout: 120_000 }, () => {
  test.each<[string, (n: number) => string]>([
    ['an IPv4 address', (n) => `203.0.113.8:${50_000 + n}`],
    ['an IPv6 address', (n) => `[2001:db8::${n}]:${50_000 + n}`],
    ['a text that is no address', (n) => `client-${n}`],
  ])('429 — %s has twenty wrong passwords in five minutes, with any port (rule 40)', async (_what, address) => {
    expect(await statusesOf(30, address)).toEqual(twentyAllowed(30));
  });

  test('401 — the twentieth attempt is verified and the next is refused, and another address has its own twenty (rule 40)', async () => {
    expect(await statusesOf(21, (n) => `203.0.113.20:${n}`)).toEqual(twentyAllowed(21));
    expect((await guess('203.0.113.21:1')).status).toBe(401);
  });

  test('the audit trail has the address without the port, also behind two proxies that both write ports (rules 83 and 84)', async () => {
    await guess('198.51.100.1:4711');
    await guess('203.0.113.9, 198.51.100.2:4711, 10.1.2.3:8080');
    await guess('[2001:db8:ffff::1]:4711');
    // The client's own line, and below it that of the proxy.
    const lines = ['x-forwarded-for', '203.0.113.9', 'x-forwarded-for', '198.51.100.3:4711'];
    const form = ['content-type', 'application/x-www-form-urlencoded'];
    await sendRequest(service().url, 'POST', '/auth', [...lines, ...form], 'user=made+up&password=not+the+password');
    const rows = await service().db.selectFrom('audit_event').select('address').where('event', '=', 'login.failed').orderBy('id').execute();
    expect(rows.slice(-4).map(({ address }) => address)).toEqual(['198.51.100.1', '198.51.100.2', '2001:db8:ffff::1', '198.51.100.3']);
  });
});
