import { beforeAll, describe, expect, test } from 'vitest';
import { TestService, useService } from '../support/service.ts';

const trusted = 'https://app.example.com';
const service = useService({ TRUSTED_ORIGINS: `${trusted}, https://other.example.com` });
const corsHeaders = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('cross-origin requests', () => {
  beforeAll(async () => {
    await service().createUser('ada');
  });

  test('a trusted origin can send the cookie, write, and read the answer and its headers (rules 28 and 31)', async () => {
    const cookie = await service().signIn('ada');
    const headers = { origin: trusted, 'sec-fetch-site': 'cross-site' };
    const answer = await service().call('POST', '/rest/entity/note', { cookie, json: {}, headers });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers.get('access-control-allow-origin')).toBe(trusted);
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    expect(answer.headers.get('access-control-expose-headers')).toContain('ETag');
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  test('its preflight is answered without a credential, and it can read a refusal', async () => {
    const headers = { origin: trusted, 'access-control-request-method': 'DELETE', 'access-control-request-headers': 'if-match' };
    const preflight = await service().call('OPTIONS', '/rest/entity/note/1', { headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('If-Match');
    const refused = await service().call('GET', '/auth', { headers: { origin: trusted } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, trusted]);
  });

  test.each(['https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com', 'null', 'https://APP.example.com'])(
    'the origin %s gets no CORS header, and cannot write with the cookie (rules 28 and 31)',
    async (origin) => {
      const cookie = await service().signIn('ada');
      const headers = { origin, 'access-control-request-method': 'POST' };
      const preflight = await service().call('OPTIONS', '/rest/entity/note', { headers });
      expect([preflight.status, corsHeaders(preflight.headers)]).toEqual([405, []]);
      const write = await service().call('POST', '/rest/entity/refused', {
        cookie,
        json: {},
        headers: { origin, 'sec-fetch-site': 'cross-site' },
      });
      expect([write.status, corsHeaders(write.headers)]).toEqual(origin === 'https://APP.example.com' ? [201, []] : [403, []]);
    },
  );

  test('without TRUSTED_ORIGINS no answer has a CORS header (rule 31)', async () => {
    const plain = await TestService.start();
    const answer = await plain.call('GET', '/auth', { headers: { origin: trusted } });
    expect([answer.status, corsHeaders(answer.headers), answer.headers.get('vary')]).toEqual([401, [], null]);
    await plain.close();
  });
});
