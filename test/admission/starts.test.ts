/** Many requests at once are started in portions, in order, and none waits for the answer of another. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { paceStarts, type PacedStarts } from '../../src/admission/starts.ts';

const requestFor = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** A server with paced starts, which leaves requests unanswered, and `count` connections to it. `onArrival` hears of each request last. */
async function openServer(count: number, onArrival: (request: IncomingMessage, startedSoFar: number) => void = () => undefined) {
  const started: { path: string; turn: number; waiting: number }[] = [];
  let turn = 0;
  const server = createServer(({ url }) => {
    started.push({ path: url ?? '', turn, waiting: starts.waiting });
  });
  const starts: PacedStarts = paceStarts(server);
  const arrived: string[] = [];
  server.on('request', (request: IncomingMessage) => {
    arrived.push(request.url ?? '');
    onArrival(request, started.length);
  });
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
    /** The paths of all requests, in the order in which Node.js has emitted them. */
    arrived,
    /** Resolves when `total` requests have been started. */
    started: async (total: number) => {
      while (started.length < total) await nextTurn();
      return started;
    },
  };
}

test('of a thousand requests at once 32 start in each turn of the event loop, in the order of arrival, though none is answered', async () => {
  const { clients, started, starts, arrived } = await openServer(1_000);
  for (const [n, client] of clients.entries()) client.write(requestFor(`/${n}`));
  const all = await started(1_000);
  expect(starts.waiting).toBe(0);
  const turns = Object.values(Object.groupBy(all, ({ turn }) => turn)).map((each) => each?.length);
  expect(turns.length).toBeGreaterThanOrEqual(1_000 / 32);
  expect(Math.max(...turns.map(Number))).toBe(32);
  expect(Math.max(...all.map(({ waiting }) => waiting))).toBeGreaterThan(500);
  expect(new Set(arrived).size).toBe(1_000);
  expect(all.map(({ path }) => path)).toEqual(arrived);
});

test('a request that finds no other one starts as it arrives', async () => {
  const startedAtArrival: number[] = [];
  const { clients, started } = await openServer(2, (_request, startedSoFar) => startedAtArrival.push(startedSoFar));
  clients[0]?.write(requestFor('/'));
  await started(1);
  clients[1]?.write(requestFor('/'));
  await started(2);
  expect(startedAtArrival).toEqual([1, 2]);
});

test('requests that arrive while others wait do not overtake them', async () => {
  const { clients, started, arrived } = await openServer(200);
  for (const client of clients.slice(0, 100)) client.write(requestFor('/early'));
  await started(1);
  for (const client of clients.slice(100)) client.write(requestFor('/late'));
  const all = await started(200);
  expect(all.map(({ path }) => path)).toEqual(arrived);
  expect(new Set(arrived)).toEqual(new Set(['/early', '/late']));
});

test('a request whose client has left while it waited is not started but counted, and those behind it are started', async () => {
  const { clients, started, starts, arrived } = await openServer(200, ({ url, socket }) => {
    if (url?.startsWith('/gone')) socket.destroy();
  });
  for (const [n, client] of clients.entries()) client.write(requestFor(n % 2 === 1 && n > 50 ? `/gone-${n}` : `/${n}`));
  while (arrived.length < 200 || starts.waiting > 0) await nextTurn();
  const paths = (await started(0)).map(({ path }) => path);
  expect(starts.abandoned).toBeGreaterThan(0);
  expect(paths).toHaveLength(200 - starts.abandoned);
  expect(paths).toEqual(expect.arrayContaining(arrived.filter((path) => !path.startsWith('/gone'))));
});

test('a server without a listener for requests is refused', () => {
  expect(() => paceStarts(createServer())).toThrow('no listener');
});

test('a connection retains no request that has been answered', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const answers: WeakRef<ServerResponse>[] = [];
  const server = createServer({ keepAliveTimeout: 72_000 }, (_request, response) => {
    answers.push(new WeakRef(response));
    response.end();
  });
  paceStarts(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write(requestFor('/'));
  await once(client, 'data');
  const isRetained = () => {
    collect();
    return answers.some((answer) => answer.deref());
  };
  await expect.poll(isRetained).toBe(false);
  expect(answers).toHaveLength(1);
});
