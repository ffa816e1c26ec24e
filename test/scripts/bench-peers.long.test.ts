/** Peers beside the service under the same load, and in the report; tiny servers replace them. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { compare, type Figures } from '../../scripts/bench/measure.ts';
import { describeReport } from '../../scripts/bench/report.ts';
import type { Server } from '../../scripts/lib/processes.ts';

/** A server in this process. The measured processor time is that of the whole process. */
async function serve(answer: RequestListener): Promise<Server> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const none = () => Promise.resolve();
  return { pid: process.pid, port: (server.address() as AddressInfo).port, startMilliseconds: 0, stop: none, kill: none, exitCode: null };
}

async function compareWith(answer: RequestListener) {
  const requestOf = () => Buffer.from('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [service, limit] = await Promise.all([serve(whole), serve(whole)]);
  const operation = { requestOf, shows: 'fields' };
  const operations = {
    'get-entity-by-session': operation,
    'get-entity-by-key': operation,
    'create-entity': operation,
    'update-entity': operation,
    'get-session': operation,
    'create-session': operation,
  };
  const peers = [{ name: 'Peer 1.0', server: await serve(answer), operations }];
  const plan = { rounds: 1, seconds: 0.1, connections: 2 };
  return compare({ name: 'get-entity-by-key', requestOf }, { service, limit, peers }, plan, () => undefined);
}

const whole: RequestListener = (_, response) => void response.setHeader('content-length', 13).end('{"fields":{}}');

test('a peer is measured beside the service and the limit', async () => {
  const { service, peers } = await compareWith(whole);
  expect(peers).toMatchObject([{ name: 'Peer 1.0', figures: { refused: 0, requestsPerSecond: expect.any(Number) } }]);
  const [peer] = peers;
  expect(peer?.ratio).toBeCloseTo(service.requestsPerSecond / (peer?.figures.requestsPerSecond ?? 0));
});

test.each([
  { what: '403', status: 403, says: /Peer 1\.0 answered other than 200, at first:\nHTTP\/1\.1 403 / },
  { what: '204, which is 2xx without an entity', status: 204, says: /Peer 1\.0 answered other than 200, at first:\nstatus 204/ },
])('a peer that answers $what to a later request fails the comparison', async ({ status, says }) => {
  let answers = 0;
  const comparing = compareWith((request, response) => {
    if (answers++ === 0) return whole(request, response);
    response.writeHead(status, { 'content-length': 0 }).end();
  });
  await expect(comparing).rejects.toThrow(says);
});

test('a peer whose answer lacks the requested entity fails the comparison', async () => {
  const comparing = compareWith((_, response) => void response.setHeader('content-length', 2).end('{}'));
  await expect(comparing).rejects.toThrow('get-entity-by-key: Peer 1.0 answered without fields: {}');
});

test('the report has the peers beside the service, each with rate, factor, times, start and memory', () => {
  const figuresOf = (requestsPerSecond: number): Figures => ({
    answers: 1,
    refused: 0,
    requestsPerSecond,
    p50: 10,
    p99: 20,
    processorMicroseconds: 300,
  });
  const ours = figuresOf(4_000);
  const memoryOf = (mebibytes: number) => [
    { name: 'idle after start', bytes: mebibytes * 2 ** 20 },
    { name: 'after load', bytes: 2 * mebibytes * 2 ** 20 },
  ];
  const report = describeReport({
    machine: { cores: 2, processor: 'Some', memoryBytes: 2 ** 30, loadAverage: 0, node: 'v1', postgres: '1', system: 'linux x64' },
    plan: { rounds: 1, seconds: 1, connections: 32, logLevel: 'info', lean: false },
    startUp: [{ name: 'start on a running database', milliseconds: 900 }],
    comparisons: [
      {
        name: 'get-session',
        connections: 32,
        service: ours,
        limit: ours,
        ratio: 1,
        paced: { service: { p50: 1, p99: 2, ratio: 2, p99OfAll: 3 }, limit: { p50: 1, p99: 2, ratio: 2, p99OfAll: 3 } },
        peers: [
          { name: 'A 1.0', figures: figuresOf(500), ratio: 8 },
          { name: 'B 2.0', figures: figuresOf(2_000), ratio: 2 },
        ],
      },
    ],
    memory: memoryOf(100),
    peers: [
      { name: 'A 1.0', startMilliseconds: 1_800, memory: memoryOf(200) },
      { name: 'B 2.0', startMilliseconds: 2_700, memory: memoryOf(300) },
    ],
  });
  const rows = report.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  expect(rows).toContainEqual(['operation', 'service req/s', 'A 1.0 req/s', 'factor', 'B 2.0 req/s', 'factor']);
  expect(rows).toContainEqual(['get-session', '4000', '500.0', '8.0', '2000', '2.0']);
  expect(rows).toContainEqual(['get-session', '10.00 / 20.00', '10.00 / 20.00', '10.00 / 20.00', '300 / 300 / 300']);
  expect(rows).toContainEqual(['service', '900', '100', '200']);
  expect(rows).toContainEqual(['A 1.0', '1800', '200', '400']);
  expect(rows).toContainEqual(['B 2.0', '2700', '300', '600']);
});
