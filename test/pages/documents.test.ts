/** openapi.yaml, the problem catalogue and the service agree: the tests compare them in both directions. */
import { globSync, readFileSync } from 'node:fs';
import { channel } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { describe, expect, test } from 'vitest';
import { resolveReference, type ContractDocument, type ComponentReference } from '../../src/contract/contract.ts';
import { Problem, problemFacts, type ProblemCode } from '../../src/problems/errors.ts';
import { translateProblem as describeProblem } from '../../src/locales/describe.ts';
import { misfits } from '../support/contract.ts';
import { document, methodOf, operations } from '../support/operations.ts';
import { useService } from '../support/service.ts';

const routes: RouteOptions[] = [];
// Before this file's service is built.
channel('fastify.initialization').subscribe((message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  const registered: RouteOptions[] = [];
  fastify.addHook('onRoute', (route) => void registered.push(route));
  // The binder registers the routes on an instance that does not listen.
  fastify.addHook('onReady', async () => void routes.push(...registered));
});

const service = useService();

type Json = Record<string, unknown>;

/** Every object inside a JSON document, with its place. */
function* objectsIn(value: unknown, at = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value as Json];
  for (const [name, member] of Object.entries(value)) yield* objectsIn(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** The problem codes that the document lists for each status. */
function listedCodes(): Map<string, Set<string>> {
  const listed = new Map<string, Set<string>>();
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const enums = [...objectsIn(response.content)].map(([, object]) => (object['code'] as { enum?: string[] } | undefined)?.enum ?? []);
      for (const code of enums.flat()) listed.set(code, (listed.get(code) ?? new Set()).add(status));
    }
  }
  return listed;
}

describe('problem codes', () => {
  test('every code that an operation lists exists, and has the status that it is listed under', () => {
    const listed = listedCodes();
    expect(listed.size).toBeGreaterThan(10);
    for (const [code, statuses] of listed) {
      expect([...statuses].map(Number), `${code} is listed under another status than in errors.ts`).toEqual([
        problemFacts[code as ProblemCode].status,
      ]);
    }
  });

  test('every code is listed by an operation, or in the description of answers without an operation', () => {
    const { info } = document as unknown as { info: { description: string } };
    const listed = listedCodes();
    const unlisted = Object.keys(problemFacts).filter((code) => !listed.has(code) && !info.description.includes(`\`${code}\``));
    expect(unlisted, 'codes of errors.ts that are missing from openapi.yaml').toEqual([]);
  });

  test('every code is used by an answer', () => {
    const source = globSync('src/**/*.ts', {
      exclude: ['src/problems/errors.ts', 'src/problems/faults.ts', 'src/locales/**', 'src/client/**'],
    });
    const text = source.map((file) => readFileSync(file, 'utf8')).join('\n');
    const unanswered = Object.keys(problemFacts).filter((code) => !text.includes(`'${code}'`));
    expect(unanswered, 'codes of errors.ts that are not used in src').toEqual([]);
  });

  test('the examples of problems have the service’s texts', () => {
    const examples = [...objectsIn(document)].filter(
      ([, { type, code, status }]) => typeof type === 'string' && typeof code === 'string' && typeof status === 'number',
    );
    expect(examples.length).toBeGreaterThan(10);
    for (const [at, example] of examples) {
      const code = example['code'] as ProblemCode;
      expect(example['status'], at).toBe(problemFacts[code].status);
      const { title, detail } = describeProblem('en', new Problem(code));
      expect(example, at).toMatchObject({ title, detail });
      expect(example['type'], at).toBe(`http://localhost:3000/problems/${code}`);
    }
  });

  test.for(Object.keys(problemFacts))('/problems/%s explains the code', async (code) => {
    const answer = await service().call<Json>('GET', `/problems/${code}`, { headers: { 'accept-language': 'de' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-language')).toBe('de');
    expect(answer.body).toMatchObject({
      code,
      status: problemFacts[code as ProblemCode].status,
      title: expect.stringMatching(/\w/),
      detail: expect.stringMatching(/^[^[\]{}]+$/),
    });
  });

  test('/problems/… is 404 for an unknown code, also for the members of every object (rule 65)', async () => {
    for (const code of ['nonsense', 'constructor', '__proto__', 'toString']) {
      expect((await service().call('GET', `/problems/${code}`)).status, code).toBe(404);
    }
  });
});

describe('the document', () => {
  test('is served byte for byte at /openapi.yaml', async () => {
    const yaml = await service().call('GET', '/openapi.yaml');
    expect(yaml.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect(yaml.text).toBe(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'));
  });

  test.for([
    ['http://localhost:3000', 'http://localhost:3000', 'sid'],
    ['https://api.example.com', 'https://api.example.com', '__Host-sid'],
    ['https://example.com/api/', 'https://example.com/api', '__Host-sid'],
  ] as const)(
    'of a server at %s has its URL and the name of its cookie at /openapi.json, and is otherwise the same',
    async ([PUBLIC_URL, url, name]) => {
      const server = await service().replica({ PUBLIC_URL });
      const json = await server.call<ContractDocument>('GET', '/openapi.json');
      await server.close();
      expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const { servers, components, ...rest } = json.body;
      const { securitySchemes, ...others } = components;
      expect(servers).toEqual([{ ...document.servers[0], url }]);
      const { sessionCookie } = document.components['securitySchemes'] as { sessionCookie: object };
      expect(securitySchemes).toEqual({ ...document.components['securitySchemes'], sessionCookie: { ...sessionCookie, name } });
      expect({
        ...rest,
        servers: document.servers,
        components: { ...others, securitySchemes: document.components['securitySchemes'] },
      }).toEqual(document);
    },
  );

  test('on /docs is that of /openapi.json; under another name of the server the page calls the origin it came from', async () => {
    const shown = async (host: string) => (await service().inject({ url: '/docs/json', headers: { host } })).json<ContractDocument>();
    const { body } = await service().call<ContractDocument>('GET', '/openapi.json');
    expect(await shown('localhost:3000')).toEqual(body);
    expect(await shown('127.0.0.1:3000')).toEqual({ ...body, servers: [{ ...body.servers[0], url: '/' }] });
  });

  test('200 — /docs/yaml is the prepared text of /openapi.yaml, whatever form its path has (rule 80)', async () => {
    const { text } = await service().call('GET', '/openapi.yaml');
    for (const path of ['/docs/yaml', '/docs/%79aml', '/docs/yaml?x=1']) {
      const shown = await service().call('GET', path);
      expect([shown.status, shown.headers.get('content-type'), shown.text === text]).toEqual([
        200,
        'application/yaml; charset=utf-8',
        true,
      ]);
    }
  });

  test('has examples that fit their own schemas', () => {
    let checked = 0;
    for (const [at, { schema, examples }] of objectsIn(document)) {
      if (schema === undefined || typeof examples !== 'object' || examples === null) continue;
      const pointer = at.slice(1).split('/').map(encodeURIComponent).join('/');
      for (const [name, example] of Object.entries(examples as Record<string, ComponentReference | { value: unknown }>)) {
        expect(misfits(`#${pointer}/schema`, resolveReference(document, example).value), `${at} ${name}`).toEqual([]);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(20);
  });
});

describe('the routes', () => {
  const templateOf = (url: string) => url.replace(/:(\w+)/g, '{$1}');

  test('are the operations of the document, each with its path and method', async () => {
    const bound = routes.filter(({ config }) => config?.operationId !== undefined);
    // HEAD is what GET is.
    const served = bound.map(({ config, method, url }) => `${config?.operationId} ${[method].flat()[0]} ${templateOf(url)}`);
    const declared = operations.map((operation) => `${operation.operationId} ${methodOf(operation)} ${operation.path}`);
    // Routes are registered on two instances, so each is announced twice.
    expect([...new Set(served)].sort()).toEqual(declared.sort());
  });

  test('beside them there are only the root and those for documentation and health', () => {
    const paths = new Set(operations.map(({ path }) => path));
    const others = routes.filter(({ url, config }) => config?.operationId === undefined && !paths.has(templateOf(url)));
    const known = /^\/(|documentation|openapi\.yaml|openapi\.json|problems\/:code|docs(\/.*)?|health\/(live|ready))$/;
    expect(others.map(({ url }) => url).filter((url) => !known.test(url))).toEqual([]);
  });
});
