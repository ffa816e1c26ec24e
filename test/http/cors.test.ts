import { beforeAll, describe, expect, test } from 'vitest';
import { document, methodOf, operations } from '../support/operations.ts';
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

  describe('each header and method of the contract', () => {
    const preflight = (method: string, name: string) => {
      const headers = { origin: trusted, 'access-control-request-method': method, 'access-control-request-headers': name.toLowerCase() };
      return service().call('OPTIONS', '/rest/entity/note/1', { headers });
    };
    const namesIn = (headers: Headers, list: string) => (headers.get(list) ?? '').split(', ');
    const sent = new Set(operations.flatMap(({ parameters }) => parameters.filter((each) => each.in === 'header').map(({ name }) => name)));
    const read = new Set(
      operations.flatMap(({ responses }) => Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers))),
    );

    test('204 — a preflight names each header parameter and each header of a credential', async () => {
      expect([...sent]).toEqual(expect.arrayContaining(['Prefer', 'If-Match', 'Idempotency-Key']));
      const { apiKey } = document.components['securitySchemes'] as { apiKey: { name: string } };
      const { headers } = await preflight('POST', 'prefer');
      expect(namesIn(headers, 'access-control-allow-headers').toSorted()).toEqual(
        [...sent, 'Content-Type', 'Authorization', apiKey.name, 'Accept-Language'].toSorted(),
      );
      expect(namesIn(headers, 'access-control-allow-methods').toSorted()).toEqual([...new Set(operations.map(methodOf))].toSorted());
    });

    test('200 — an answer exposes each header of the contract but the cookie, and those of refusals before an operation', async () => {
      expect([...read]).toEqual(expect.arrayContaining(['Preference-Applied', 'Link', 'Content-Location', 'Set-Cookie']));
      const { headers } = await service().call('GET', '/openapi.json', { headers: { origin: trusted } });
      const others = ['Content-Language', 'Allow', 'RateLimit', 'RateLimit-Policy'];
      expect(namesIn(headers, 'access-control-expose-headers').toSorted()).toEqual(
        [...read, ...others].filter((name) => name !== 'Set-Cookie').toSorted(),
      );
    });
  });

  test('200 — a dry run of a batch from a trusted origin, with Prefer', async () => {
    const cookie = await service().signIn('ada');
    const headers = { origin: trusted, 'sec-fetch-site': 'cross-site', prefer: 'dry-run' };
    const json = { operations: [{ op: 'create', name: 'dry', fields: {} }] };
    const answer = await service().call('POST', '/rest/batch', { cookie, json, headers });
    expect([answer.status, answer.headers.get('preference-applied')], answer.text).toEqual([200, 'dry-run']);
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
