/** Long bodies of one caller delay those of another by one piece of work, and do not delay refusals (rule 80). */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { inTurn, Pauses } from '../../src/admission/turns.ts';
import { FairQueue } from '../../src/admission/queue.ts';
import { rowsOf, type Entity } from '../support/entities.ts';
import { useService } from '../support/service.ts';
import { countTurns } from '../support/turns.ts';

const service = useService();

const spin = (milliseconds: number) => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

/** Pieces of work that record their names when they are done. */
function pieces() {
  const done: string[] = [];
  const ended: Promise<void>[] = [];
  const add = (caller: string, name: string, milliseconds = 0) =>
    ended.push(
      new Promise((resolve) =>
        inTurn(caller, () => {
          spin(milliseconds);
          done.push(name);
          resolve();
        }),
      ),
    );
  return { done, add, end: () => Promise.all(ended) };
}

test('one piece of each caller runs in rotation, and each caller’s pieces in order (rule 80)', async () => {
  const { done, add, end } = pieces();
  for (const name of ['a1', 'a2', 'a3', 'a4']) add('ada', name);
  for (const name of ['b1', 'b2']) add('bob', name);
  await end();
  expect(done).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  add('ada', 'a5');
  await end();
  expect(done.at(-1)).toBe('a5');
});

test('a refusal comes before long pieces that wait (rule 80)', async () => {
  const { done, add, end } = pieces();
  const queue = new FairQueue({ flow: [1, 1, 60_000] });
  const leave = await queue.enter('ada');
  const refused = queue.enter('ada').catch(() => done.push('refused'));
  for (const name of ['a1', 'a2', 'a3']) add('ada', name, 5);
  queue.rejectWaiting('ada', () => new Error('refused') as never);
  await Promise.all([end(), refused]);
  leave();
  expect(done).toEqual(['a1', 'refused', 'a2', 'a3']);
});

test('other work runs between two steps after the steps have taken long (rule 80)', async () => {
  const turns = countTurns();
  const pauses = new Pauses();
  await pauses.whenLong();
  expect(turns()).toBe(0);
  for (const step of [1, 2, 3]) {
    spin(5);
    await pauses.whenLong();
    expect(turns()).toBeGreaterThanOrEqual(step);
  }
});

/** Opens a connection, and returns a function that sends `body` on it, to create an entity. */
async function openConnection(cookie: string, body: string): Promise<{ socket: Socket; send: () => void }> {
  const { hostname, port } = new URL(service().url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const head = `POST /rest/entity/thing HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\n`;
  return { socket, send: () => void socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`) };
}

/** A session that the process has already cached. */
async function cookieOf(name: string): Promise<string> {
  const cookie = await service().openSession((await service().createUser(name)).id);
  expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
  return cookie;
}

test('422 — a long body is read before most of another user’s earlier ones (rule 80)', async () => {
  const [ada, bob] = [await cookieOf('ada'), await cookieOf('bob')];
  // Read as a whole, and refused because it is not an object.
  const body = `[${'{"member":1},'.repeat(4_900)}{}]`;
  const connections = await Promise.all([...Array.from({ length: 30 }, () => ada), bob].map((cookie) => openConnection(cookie, body)));
  const answered: number[] = [];
  const { add } = pieces();
  // No body gets its turn until all have arrived.
  for (let n = 0; n < 20; n++) add(`caller ${n}`, '', 10);
  const answers = connections.map(async ({ socket, send }, index) => {
    send();
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 422 /);
    answered.push(index);
  });
  await Promise.all(answers);
  expect(answered.indexOf(30)).toBeLessThan(15);
});

test('a long body whose client disconnects before its turn creates nothing (rule 80)', async () => {
  const cookie = await cookieOf('carol');
  const { socket, send } = await openConnection(cookie, JSON.stringify({ text: 'x'.repeat(20_000) }));
  const { done, add, end } = pieces();
  for (let n = 0; n < 20; n++) add(`caller ${n}`, `piece ${n}`, 5);
  send();
  await expect.poll(() => done.length, { interval: 1 }).toBeGreaterThan(5);
  socket.destroy();
  await end();
  add('last', 'last');
  await end();
  const created = await service().call<Entity>('POST', '/rest/entity/thing', { cookie, json: { n: 1 } });
  expect(created.status).toBe(201);
  expect((await rowsOf(service(), 'thing')).map(({ key }) => key)).toEqual([created.body.key]);
});
