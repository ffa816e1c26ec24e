/**
 * PostgreSQL is unreachable while requests run: each answer is a 503 with Retry-After, and the service recovers when PostgreSQL is
 * reachable again.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { found } from '../support/contract.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { rowsOf, type Entity } from '../support/entities.ts';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { exampleCall, methodOf, operations, pathOf, titled } from '../support/operations.ts';
import { Proxy } from '../support/proxy.ts';
import { hashToken } from '../../src/sessions/token.ts';
import { password, TestService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

let database: TestDatabase;
let proxy: Proxy;
let service: TestService;
let eve: string;
let cookie: string;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await Proxy.open(database.url);
  const issuer = await TestIssuer.start('corp');
  const ISSUERS_FILE = await writeIssuers(issuer.entry({ clientId: 'web' }));
  const through = { url: proxy.urlOf(database.url), drop: async () => undefined };
  // Its clock stands still, so that cache entries do not expire: only the loss of the connection can empty the cache.
  service = await TestService.start({ ISSUERS_FILE }, through, new TestClock());
  eve = (await service.createUser('eve')).id;
  cookie = await service.openSession(eve);
  key = await service.createKey(eve);
});

afterEach(async () => {
  expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  await proxy.restore();
  await working();
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

/** Operations that accept a credential or create one. The others answer a stranger's example without a query. */
const makers = ['createSession', 'startOpenIdSignIn'];
const needy = operations.filter(({ operationId, security }) => security.length > 0 || makers.includes(operationId));

/** Waits until the service serves requests again. */
async function working(): Promise<void> {
  await expect.poll(async () => (await service.call('GET', '/health/ready')).status).toBe(200);
  await expect.poll(async () => (await service.call('GET', '/auth', { cookie })).status).toBe(200);
}

/** Empties the cache of authenticated callers, which these tests are not about. */
function forgetCallers(): void {
  service.context.principals.forget('all');
}

function expectOutage(answer: Answer<ProblemBody>, method: string, code = 'unavailable'): void {
  expect(answer.status, answer.text).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(method === 'HEAD' ? answer.headers.get('problem-code') : answer.body.code).toBe(code);
}

const note = (call: Call = {}) => service.call<Entity>('POST', '/rest/entity/note', { cookie, json: { a: 1 }, ...call });

describe('a database that is cut or reset', () => {
  /** Every other operation meets a reset: the two ways differ for the driver, not for operations. */
  const each = titled(needy).map(([title, operation], index) => [title, operation, index % 2 === 0 ? 'cut' : 'reset'] as const);

  test.for(each)('503 — %s, with every kind of credential, and never 401: an outage is no logout', async ([, operation, way]) => {
    await proxy[way]();
    forgetCallers();
    const method = methodOf(operation);
    for (const call of [{ cookie }, { headers: { 'x-api-key': key } }]) {
      if (operation.operationId === 'createSession' && 'headers' in call) continue;
      expectOutage(await service.call(method, pathOf(operation), exampleCall(operation, call)), method);
    }
  });
});

describe.for(['cut', 'reset'] as const)('a database that is %s', (way) => {
  test('503 — also to a request of a cached caller, as soon as the connection is lost: a revocation could not arrive', async () => {
    const invalid = () => service.call('GET', '/rest/entity/note/1e3', { cookie });
    await expect.poll(() => service.context.listener.isUp).toBe(true);
    await expect.poll(async () => [(await invalid()).status, service.context.principals.size]).toEqual([400, 1]);
    await proxy[way]();
    await expect.poll(() => service.context.listener.isUp).toBe(false);
    expect((await invalid()).status).toBe(503);
  });

  test('200 — liveness and requests that need no database, while the service is not ready', async () => {
    await proxy[way]();
    expect((await service.call('GET', '/health/live')).status).toBe(200);
    // The checks of 200 ms share one look at the database.
    const ready = () => service.call('GET', '/health/ready');
    await expect.poll(async () => (await ready()).status).toBe(503);
    expectOutage(await ready(), 'GET');
    expect((await service.call('GET', '/openapi.yaml')).status).toBe(200);
    expect((await service.call('GET', '/auth')).status).toBe(401);
    expect((await service.call('PUT', '/auth')).status).toBe(405);
    expect((await service.call('GET', '/nowhere')).status).toBe(404);
  });

  test('503, 200 and 201 — for requests in progress: each outcome is true, and the service recovers without a restart', async () => {
    const before = (await rowsOf(service, 'note')).length;
    const answers: Promise<Answer>[] = [];
    for (let index = 0; index < 40; index++) {
      answers.push(
        note(),
        service.call('GET', '/auth', { cookie }),
        service.call('GET', '/rest/entity/note/1', { headers: { 'x-api-key': key } }),
      );
      if (index === 20) await proxy[way]();
    }
    const seen = await Promise.all(answers);
    for (const { status, text } of seen) expect([200, 201, 404, 503], text).toContain(status);
    await proxy.restore();
    await working();
    const created = seen.filter(({ status }) => status === 201).length;
    const unknown = seen.filter(({ text }) => text.includes('"outcome-unknown"')).length;
    const after = (await rowsOf(service, 'note')).length - before;
    expect(after).toBeGreaterThanOrEqual(created);
    expect(after).toBeLessThanOrEqual(created + unknown);
    expect((await note()).status).toBe(201);
    expect((await service.call('POST', '/auth', { form: { user: 'eve', password } })).status).toBe(200);
  });

  test('is listened to again afterwards: a caller is cached again, and removed when another process ends the session', async () => {
    const other = await service.openSession(eve);
    const ask = async () => (await service.call('GET', '/rest/entity/note/999999', { cookie: other })).status;
    const hash = hashToken(other.slice(other.indexOf('=') + 1)).toString('hex');
    const cached = async () => (await ask()) === 404 && service.context.principals.find(hash) !== undefined;
    await expect.poll(cached).toBe(true);
    await proxy[way]();
    await expect.poll(() => service.context.listener.isUp).toBe(false);
    expect(service.context.principals.find(hash)).toBe(undefined);
    await proxy.restore();
    await expect.poll(cached).toBe(true);
    await service.db.updateTable('session').set({ revoked_at: new Date() }).where('user_id', '=', eve).execute();
    await service.settle();
    expect(await ask()).toBe(401);
    cookie = await service.openSession(eve);
  });
});

/** What is answered before the first statement: the list of issuers, and refusals of a foreign issuer and of a logout token that no issuer has signed. */
const answeredWithoutDatabase: Record<string, number> = { listIssuers: 200, initiateOpenIdSignIn: 400, logoutFromProvider: 400 };

describe('an unresponsive database', () => {
  test('503 — to every operation that needs the database within seconds, and the service finds a moved database without a restart', async () => {
    await Promise.all(Array.from({ length: 12 }, () => note()));
    proxy.stall();
    forgetCallers();
    const began = performance.now();
    const answers = await Promise.all(
      operations.map(async (operation) => {
        const method = methodOf(operation);
        return [operation, await service.call(method, pathOf(operation), exampleCall(operation, { cookie }))] as const;
      }),
    );
    expect(performance.now() - began).toBeLessThan(12_000);
    for (const [operation, answer] of answers) {
      const withoutDatabase = answeredWithoutDatabase[operation.operationId];
      if (withoutDatabase !== undefined) {
        expect(answer.status, operation.operationId).toBe(withoutDatabase);
        continue;
      }
      const method = methodOf(operation);
      const code = (method === 'HEAD' ? answer.headers.get('problem-code') : answer.body.code) ?? '';
      expect(['unavailable', 'outcome-unknown']).toContain(code);
      expectOutage(answer, method, code);
    }
    proxy.abandon();
    await working();
    expect((await note()).status).toBe(201);
  });

  test('403 — a refusal that needs no query is answered at once, although its audit event cannot be written', async () => {
    proxy.stall();
    const began = performance.now();
    const refused = await service.call('POST', '/auth', { form: { user: 'eve', password }, headers: { 'sec-fetch-site': 'cross-site' } });
    expect([refused.status, refused.body.code]).toEqual([403, 'csrf-rejected']);
    expect(performance.now() - began).toBeLessThan(1_900);
    proxy.abandon();
    await working();
  });
});
