/** Two services over one database, behind nginx as an operator would put them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
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
  let client: Caller;

  beforeAll(async () => {
    const settings = { TRUST_PROXY: '127.0.0.1/32' };
    one = await TestService.start(settings);
    other = await one.replica(settings);
    nginx = await startNginx([one.url, other.url]);
    // Not the address of nginx, which is trusted.
    client = new Caller(() => nginx.port, { localAddress: '127.0.0.2' });
    await one.createUser('ada');
  });
  afterEach(() => {
    expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
  });
  afterAll(async () => {
    client.close();
    await nginx.stop();
    await other.close();
    await one.close();
  });

  const signIn = async (secret = password) => client.send('POST', '/auth', { form: { user: 'ada', password: secret } });
  const open = async () => {
    const { status, headers, body } = await signIn();
    expect(status, body).toBe(200);
    return { cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
  };

  test('200 and 401 — signed in at one, used at both, signed out at one, refused by both on the next request', async () => {
    const headers = await open();
    const ask = async () => {
      const answers = [];
      for (let n = 0; n < 6; n++) answers.push(await client.send('GET', '/rest/entity/note/1', { headers }));
      expect(new Set(answers.map((answer) => answer.headers['x-replica'])).size, 'both replicas are asked').toBe(2);
      return [...new Set(answers.map(({ status }) => status))];
    };
    expect(await ask()).toEqual([404]);
    expect((await client.send('HEAD', '/auth?logout=1', { headers })).status).toBe(204);
    expect(await ask()).toEqual([401]);
  });

  test('201 — an Idempotency-Key counts for both: one row, and the other says so', async () => {
    const headers = { ...(await open()), 'idempotency-key': 'both' };
    const create = () => client.send('POST', '/rest/entity/once', { headers, json: { a: 1 } });
    const answers = [await create(), await create()];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]?.headers['x-replica']).not.toBe(answers[1]?.headers['x-replica']);
    expect(answers[1]?.headers['idempotency-replayed']).toBe('true');
    expect(await rowsOf(one, 'once')).toHaveLength(1);
  });

  test('201 — the audit trail has the client’s address, not that of nginx and not one that the client makes up (rule 83)', async () => {
    const headers = { ...(await open()), 'x-forwarded-for': '203.0.113.9' };
    for (let n = 0; n < 2; n++) expect((await client.send('POST', '/rest/entity/from', { headers, json: {} })).status).toBe(201);
    const events = await one.db.selectFrom('audit_event').where('event', '=', 'entity.created').select(['address', 'detail']).execute();
    const addresses = events.filter(({ detail }) => JSON.stringify(detail).includes('"from"')).map(({ address }) => address);
    expect(addresses).toEqual(['127.0.0.2', '127.0.0.2']);
  });

  test('429 — wrong passwords are counted together: the fifth blocks the account at both', async () => {
    const replicas = new Set<unknown>();
    for (let n = 0; n < 5; n++) {
      const { status, headers } = await signIn('wrong horse battery staple');
      expect(status).toBe(401);
      replicas.add(headers['x-replica']);
    }
    expect(replicas.size).toBe(2);
    // Shut for a second only, which a busy machine may need to get here.
    const shut = one.db.updateTable('login_attempt').set({ blocked_until: new Date(Date.now() + 3_600_000) });
    const counted = await shut.where('kind', '=', 'account').where('blocked_until', 'is not', null).returning('failures').execute();
    expect(counted).toEqual([{ failures: 5 }]);
    const form = { user: 'ada', password };
    const answers = await Promise.all([one, other].map((service) => service.call('POST', '/auth', { form })));
    expect(answers.map(({ status }) => status)).toEqual([429, 429]);
  });

  test('2xx — to everybody while one of them stops under load: no request fails, and no write is lost (rule 92)', async () => {
    const ledger = new Ledger();
    const stop = startWriters(16, () => nginx.port, await makeCallers(one.databaseUrl, { sessions: 200 }), ledger);
    await expect.poll(() => ledger.acknowledged).toBeGreaterThan(200);
    await other.close();
    const before = ledger.acknowledged;
    await expect.poll(() => ledger.acknowledged).toBeGreaterThan(before + 100);
    await stop();
    expect([ledger.unanswered, ledger.refused]).toEqual([0, 0]);
    expect([...ledger.statuses.keys()].filter((status) => status >= 300)).toEqual([]);
    expect(await ledger.compare(one.databaseUrl)).toEqual([]);
  });
});
