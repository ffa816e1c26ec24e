/** Two services on one database behind nginx, as an operator would run them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CookieJar } from '../../src/client/index.ts';
import { clientOf, cookieHeader } from '../support/client.ts';
import { found } from '../support/contract.ts';
import { rowsOf } from '../support/entities.ts';
import { startNginx, whyNoNginx } from '../support/nginx.ts';
import { password, TestService } from '../support/service.ts';
import { makeCallers } from './callers.ts';
import { Caller } from './http.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';

const reason = whyNoNginx();

describe.skipIf(reason)(`two replicas behind nginx${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let one: TestService;
  let other: TestService;
  let nginx: { port: number; stop: () => Promise<void> };
  let caller: Caller;

  beforeAll(async () => {
    const settings = { TRUST_PROXY: '127.0.0.1/32' };
    one = await TestService.start(settings);
    other = await one.replica(settings);
    nginx = await startNginx([one.url, other.url]);
    // Another address than that of nginx, which is trusted.
    caller = new Caller(() => nginx.port, { localAddress: '127.0.0.2' });
    await one.createUser('ada');
  });
  afterEach(() => {
    expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  });
  afterAll(async () => {
    caller.close();
    await nginx.stop();
    await other.close();
    await one.close();
  });

  const proxy = () => ({ url: `http://127.0.0.1:${nginx.port}` });
  /** A client without a session, unless the jar has one. `replicas` are the replicas that have answered it. */
  const newClient = (cookies?: CookieJar) => {
    const replicas: unknown[] = [];
    const fetch = caller.fetchFor((headers) => replicas.push(headers['x-replica']));
    return { client: clientOf(proxy(), { errors: 'result', fetch, cookies }), replicas };
  };
  const open = async () => {
    const opened = newClient();
    expect(await opened.client.createSession({ user: 'ada', password })).toMatchObject({ ok: true });
    return opened;
  };

  test('200 and 401 — a session opened at one replica works at both; after a logout at one, both refuse the next request', async () => {
    const { client } = await open();
    const cookie = cookieHeader(client, proxy());
    /** The answers to copies of the cookie, which the logout does not remove. */
    const ask = async () => {
      const answers = [];
      for (let n = 0; n < 6; n++) {
        const cookies = new CookieJar(proxy().url);
        cookies.store(new URL(proxy().url), [`${cookie}; Path=/`]);
        const { client: copy, replicas } = newClient(cookies);
        const result = await copy.entities('note').get('1');
        answers.push({ replica: replicas[0], code: result.ok || (result.error.kind === 'api' && result.error.code) });
      }
      expect(new Set(answers.map(({ replica }) => replica)).size, 'both replicas have answered').toBe(2);
      return [...new Set(answers.map(({ code }) => code))];
    };
    expect(await ask()).toEqual(['not-found']);
    expect(await client.endSession()).toMatchObject({ ok: true, status: 204 });
    expect(await ask()).toEqual(['unauthenticated']);
  });

  test('201 — both replicas share an Idempotency-Key: there is one row, and the second answer says that it is a replay', async () => {
    const { client, replicas } = await open();
    replicas.length = 0;
    const create = () => client.entities('once').create({ a: 1 }, { idempotencyKey: 'both' });
    const [first, again] = [await create(), await create()];
    expect(first).toMatchObject({ ok: true, status: 201 });
    expect(again).toMatchObject({ ok: true, status: 201, value: first.ok && first.value });
    expect(new Set(replicas).size).toBe(2);
    expect(again.ok && again.headers.get('idempotency-replayed')).toBe('true');
    expect(await rowsOf(one, 'once')).toHaveLength(1);
  });

  test('201 — twenty concurrent creates with one Idempotency-Key, at both replicas, make one row, in all answers', async () => {
    const { client, replicas } = await open();
    replicas.length = 0;
    const create = () => client.entities('at-once').create({ a: 1 }, { idempotencyKey: 'all' });
    const results = await Promise.all(Array.from({ length: 20 }, create));
    expect(new Set(replicas).size).toBe(2);
    expect(new Set(results.map((result) => result.ok && result.status))).toEqual(new Set([201]));
    expect(new Set(results.map((result) => result.ok && result.value.key)).size).toBe(1);
    expect(await rowsOf(one, 'at-once')).toHaveLength(1);
  });

  test('201 — the audit trail has the client’s address, neither that of nginx nor a forged one (rule 83)', async () => {
    const headers = { cookie: cookieHeader((await open()).client, proxy()), 'x-forwarded-for': '203.0.113.9' };
    for (let n = 0; n < 2; n++) expect((await caller.send('POST', '/rest/entity/from', { headers, json: {} })).status).toBe(201);
    const events = await one.db.selectFrom('audit_event').where('event', '=', 'entity.created').select(['address', 'detail']).execute();
    const addresses = events.filter(({ detail }) => JSON.stringify(detail).includes('"from"')).map(({ address }) => address);
    expect(addresses).toEqual(['127.0.0.2', '127.0.0.2']);
  });

  test('429 — both replicas count wrong passwords together, by account and address: the fifth blocks the account at both', async () => {
    const { client, replicas } = newClient();
    for (let n = 0; n < 5; n++) {
      const refused = await client.createSession({ user: 'ada', password: 'wrong horse battery staple' });
      expect(refused).toMatchObject({ ok: false, error: { status: 401, code: 'invalid-credentials' } });
    }
    expect(new Set(replicas).size).toBe(2);
    // The block lasts only a second, which a busy machine may need to get here.
    const shut = one.db.updateTable('login_attempt').set({ blocked_until: new Date(Date.now() + 3_600_000) });
    const counted = await shut.where('kind', '=', 'account').where('blocked_until', 'is not', null).returning('failures').execute();
    expect(counted).toEqual([{ failures: 5 }]);
    const ofAddresses = await one.db.selectFrom('login_attempt').where('kind', '=', 'address').select('failures').execute();
    expect(ofAddresses).toEqual([{ failures: 5 }]);
    for (const replica of [one, other]) {
      const refused = await clientOf(replica, { errors: 'result' }).createSession({ user: 'ada', password });
      expect(refused).toMatchObject({ ok: false, error: { status: 429, code: 'rate-limited' } });
    }
  });

  test('2xx — while one replica stops under load: no request fails, and no write is lost (rule 92)', async () => {
    const ledger = new Ledger();
    const stop = startWriters(16, () => nginx.port, await makeCallers(one.databaseUrl, { sessions: 200 }), ledger);
    await expect.poll(() => ledger.acknowledged).toBeGreaterThan(200);
    await other.stop();
    const before = ledger.acknowledged;
    await expect.poll(() => ledger.acknowledged).toBeGreaterThan(before + 100);
    await stop();
    expect([ledger.unanswered, ledger.refused]).toEqual([0, 0]);
    expect([...ledger.statuses].filter(([status]) => status >= 300)).toEqual([]);
    expect(await ledger.compare(one.databaseUrl)).toEqual([]);
  });
});
