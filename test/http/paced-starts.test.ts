/** Many requests at once are started in portions, in order, and none waits for the answer of another. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { paceStarts, type PacedStarts } from '../../src/http/paced-starts.ts';

const requestFor = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** A server with paced starts, which leaves requests unanswered, and `count` connections to it. */
async function openServer(count: number) {
  const started: { path: string; turn: number; waiting: number; response: ServerResponse }[] = [];
  let turn = 0;
  const server = createServer((request, response) => {
    started.push({ path: request.url ?? '', turn, waiting: starts.waiting, response });
  });
  const starts: PacedStarts = paceStarts(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  for (let n = 0; n < count; n++) {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    await once(client, 'connect');
  }
  const countTurns = () => {
    turn += 1;
    counting = setImmediate(countTurns);
  };
  let counting = setImmediate(countTurns);
  onTestFinished(() => {
    clearImmediate(counting);
    for (const client of clients) client.destroy();
    server.close();
  });
  return {
    starts,
    clients,
    /** Resolves when `total` requests have been started. */
    started: async (total: number) => {
      while (started.length < total) await nextTurn();
      return started;
    },
  };
}

test('of a thousand requests at once 32 start in each turn of the event loop, in the order of arrival, though none is answered', async () => {
  const { clients, started, starts } = await openServer(1_000);
  for (const [n, client] of clients.entries()) client.write(requestFor(`/${n}`));
  const all = await started(1_000);
  expect(starts.waiting).toBe(0);
  const turns = Object.values(Object.groupBy(all, ({ turn }) => turn)).map((each) => each?.length);
  expect(turns.length).toBeGreaterThanOrEqual(1_000 / 32);
  expect(Math.max(...turns.map(Number))).toBe(32);
  expect(Math.max(...all.map(({ waiting }) => waiting))).toBeGreaterThan(500);
  expect(all.map(({ path }) => path)).toEqual(clients.map((_client, n) => `/${n}`));
});

test('a request that finds no other one starts in its own turn', async () => {
  const { clients, started } = await openServer(2);
  clients[0]?.write(requestFor('/first'));
  await started(1);
  clients[1]?.write(requestFor('/second'));
  const all = await started(2);
  expect(all.map(({ path, waiting }) => ({ path, waiting }))).toEqual([
    { path: '/first', waiting: 0 },
    { path: '/second', waiting: 0 },
  ]);
});

test('of a client that sends 6,000 requests without waiting for answers 4,096 wait at most, and they start in order (rule 80)', async () => {
  const { clients, started } = await openServer(1);
  const sent = Array.from({ length: 6_000 }, (_, n) => `/${n}`);
  clients[0]?.write(sent.map(requestFor).join(''));
  const all = await started(6_000);
  expect(Math.max(...all.map(({ waiting }) => waiting))).toBe(4_096);
  expect(all.map(({ path }) => path)).toEqual(sent);
});

test('a request whose client has left before its turn does not hold up those behind it', async () => {
  const { clients, started } = await openServer(200);
  for (const [n, client] of clients.entries()) client.write(requestFor(`/${n}`));
  await started(1);
  clients[150]?.destroy();
  const all = await started(199);
  expect(all.map(({ path }) => path)).toContain('/199');
});

test('a server without a listener for requests is refused', () => {
  expect(() => paceStarts(createServer())).toThrow('no listener');
});
