import { describe, expect, test } from 'vitest';
import { readContract } from '../../src/contract/contract.ts';
import { useService } from '../support/service.ts';

const service = useService();
const published = useService({ PUBLIC_URL: 'https://example.com/api', DOCUMENTATION_URL: 'https://docs.example.com/' });

interface Index {
  links: Record<string, string>;
}

/** What browsers send when they open a page. */
const page = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

describe('GET /', () => {
  test('303 — a browser is sent to Swagger UI', async () => {
    const answer = await service().call('GET', '/', { headers: { accept: page } });
    expect([answer.status, answer.headers.get('location'), answer.headers.get('vary')]).toEqual([303, '/docs', 'Accept']);
    expect((await service().call('GET', '/docs', { headers: { accept: page } })).headers.get('content-type')).toContain('text/html');
  });

  test.for([undefined, '*/*', 'application/json', 'text/html;q=0, */*'])(
    '200 — a program that accepts %s gets links that work',
    async (accept) => {
      const answer = await service().call('GET', '/', { headers: accept === undefined ? {} : { accept } });
      expect(answer.status).toBe(200);
      const { info } = readContract().document;
      const { links, ...rest } = answer.body as unknown as Index;
      expect(rest).toEqual({ name: info.title, version: info.version });
      for (const [name, url] of Object.entries(links)) {
        expect((await service().call('GET', new URL(url).pathname)).status, `${name}: ${url}`).toBe(200);
      }
      expect(Object.keys(links)).toEqual(expect.arrayContaining(['swaggerUi', 'documentation', 'contract', 'contractAsJson']));
    },
  );

  test('200 and 303 — the links and the redirection begin with PUBLIC_URL, also with a base path', async () => {
    const { links } = (await published().call('GET', '/')).body as unknown as Index;
    const answer = await published().call('GET', '/', { headers: { accept: page } });
    expect(answer.headers.get('location')).toBe('/api/docs');
    expect(links['swaggerUi']).toBe('https://example.com/api/docs');
  });

  test.for(['text/html;level=1;q=0', 'text/html;q=0;level=1', 'text/html; q=0.00 ; level=1'])(
    '200 — a program that refuses HTML with a parameter gets the links: %s',
    async (accept) => {
      expect((await service().call('GET', '/', { headers: { accept } })).status).toBe(200);
    },
  );

  test('303 — HTML with another parameter is HTML', async () => {
    for (const accept of ['text/html;level=1', 'text/html;q=0.1;level=1']) {
      expect((await service().call('GET', '/', { headers: { accept } })).status, accept).toBe(303);
    }
  });

  test.for(['/', '/documentation'])('405 — any other method on %s, with Allow (rule 26)', async (path) => {
    expect((await service().call('GET', path)).status).not.toBe(405);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await service().call(method, path);
      expect([answer.status, answer.headers.get('allow')], method).toEqual([405, 'GET, HEAD']);
    }
  });

  test('404 — a path below it is still unknown', async () => {
    expect((await service().call('GET', '/index.html', { headers: { accept: page } })).status).toBe(404);
  });
});

describe('GET /documentation', () => {
  test('303 — leads to DOCUMENTATION_URL', async () => {
    const answer = await published().call('GET', '/documentation');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'https://docs.example.com/']);
  });

  test('200 — without DOCUMENTATION_URL the page says where the documents are', async () => {
    const answer = await fetch(`${service().url}/documentation`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('DOCUMENTATION_URL');
  });
});
