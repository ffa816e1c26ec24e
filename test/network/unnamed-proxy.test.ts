/** The warning about a proxy that TRUST_PROXY does not name. */
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { addressOf, readAddresses } from '../../src/network/client-address.ts';

describe('without trusted proxies', () => {
  async function listen(trustProxy: string[]) {
    const lines: { event?: string; msg: string }[] = [];
    const app = Fastify({ logger: { stream: { write: (line: string) => lines.push(JSON.parse(line)) } } });
    readAddresses(app, trustProxy);
    app.get('/', (request) => ({ address: addressOf(request) }));
    const ask = async (headers: Record<string, string>) => (await app.inject({ url: '/', headers })).json<{ address: string }>().address;
    return { ask, warnings: () => lines.filter(({ event }) => event === 'configuration.risky') };
  }

  test('a request through a proxy is logged once as a warning, and its headers are not trusted (rule 83)', async () => {
    const { ask, warnings } = await listen([]);
    expect(await ask({})).toBe('127.0.0.1');
    expect(warnings()).toEqual([]);
    for (let n = 0; n < 100; n++) expect(await ask({ 'x-forwarded-for': `203.0.113.${n}` })).toBe('127.0.0.1');
    expect(warnings()).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('TRUST_PROXY') })]);
  });

  test('`Forwarded` is logged as well, and nothing is logged with trusted proxies (rule 83)', async () => {
    const untold = await listen([]);
    await untold.ask({ forwarded: 'for=203.0.113.7' });
    expect(untold.warnings()).toHaveLength(1);
    const told = await listen(['127.0.0.1']);
    await told.ask({ 'x-forwarded-for': '203.0.113.7' });
    expect(told.warnings()).toEqual([]);
  });
});
