/**
 * A proxy that cuts the answer to a transition after each number of bytes. The client has the former token, or the new one if the headers have arrived, and
 * goes on (rule 20). `test/sessions/lost-answers.test.ts` has an example.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EntityServiceClient, resultOf } from '../../src/client/index.ts';
import { agingToken, sessionOf } from '../support/clock.ts';
import { password, useService, type TestService } from '../support/service.ts';

vi.setConfig({ testTimeout: 600_000 });

const service = useService();
let replica: TestService;
let proxy: string;
/** The bytes of each answer that the proxy passes on. */
let passed = Infinity;
/** The bytes of the last answer. */
let answered = 0;

const server = createServer((client) => {
  const { port, hostname } = new URL(service().url);
  const upstream = connect(Number(port), hostname);
  for (const socket of [client, upstream]) socket.on('error', () => undefined);
  answered = 0;
  client.pipe(upstream);
  client.on('close', () => upstream.end());
  upstream.on('data', (bytes: Buffer) => {
    const left = passed - answered;
    answered += bytes.length;
    if (bytes.length <= left) return void client.write(bytes);
    if (left > 0) client.write(bytes.subarray(0, left));
    // A proxy closes the connection in order, or resets it.
    if (passed % 2 === 0) client.destroySoon();
    else client.resetAndDestroy();
  });
  upstream.on('close', () => client.destroy());
});

beforeAll(async () => {
  replica = await service().replica();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await replica.close();
});

/** Sends the transition through the proxy, and returns the cookie that a client has then. */
async function transit(path: string, cookie: string): Promise<string> {
  const sent = fetch(proxy + path, { method: 'POST', headers: { cookie, connection: 'close' } });
  const answer = await sent.catch(() => undefined);
  await answer?.text().catch(() => undefined);
  return answer?.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
}

/** The status of the cookie's session at each process, in the Auth API and beside it. */
async function statusesOf(cookie: string): Promise<number[]> {
  const answers = [service(), replica].flatMap((at) => ['/auth', '/rest/entity/note/1'].map((path) => at.call('GET', path, { cookie })));
  return (await Promise.all(answers)).map(({ status }) => status);
}

const signedIn = [200, 404, 200, 404];

describe.for([
  ['a refresh', '/auth/refresh', 1],
  ['a switch to another profile', '/auth/profile/second', 5],
  ['a switch to the default profile', '/auth/profile', 5],
] as const)('%s', ([, path, step]) => {
  test('200 — the client goes on, wherever the answer is cut, at both processes (rule 20)', async () => {
    const { id } = await service().createUser(`user${step}${path.length}`);
    if (path.endsWith('second')) await service().createProfile(id, 'second', { note: ['read'] });
    let cookie = await service().openSession(id);
    const session = await sessionOf(service(), cookie);
    passed = Infinity;
    cookie = await transit(path, cookie);
    const length = answered;
    expect(length).toBeGreaterThan(500);
    let replaced = 0;
    for (passed = 0; passed <= length; passed += step) {
      const next = await transit(path, cookie);
      if (next !== cookie) replaced++;
      cookie = next;
      // Ten seconds later the client goes on. A minute later it may refresh again.
      await agingToken(service(), undefined, passed % 2 === 0 ? 11 : 61, session.id);
      expect(await statusesOf(cookie), `cut after ${passed} bytes`).toEqual(signedIn);
      await agingToken(service(), undefined, 61, session.id);
    }
    expect(replaced, 'answers whose headers had arrived').toBeGreaterThan(10);
    const events = await service().db.selectFrom('audit_event').where('session_id', '=', session.id).select('event').execute();
    expect(events.map(({ event }) => event)).not.toContain('session.reuse_detected');
  });
});

test('200 — the client of the package goes on, wherever the answer to its refresh is cut (rule 20)', async () => {
  await service().createUser('ada');
  const client = new EntityServiceClient({ baseUrl: proxy, retry: false });
  passed = Infinity;
  await client.createSession({ user: 'ada', password });
  for (let cut = 0; cut < 1_400; cut += 23) {
    passed = cut;
    await resultOf(client.refreshSession());
    passed = Infinity;
    await agingToken(service(), undefined, 61, (await client.getSession()).session?.id);
    expect((await client.getSession()).user.name, `cut after ${cut} bytes`).toBe('ada');
  }
});
