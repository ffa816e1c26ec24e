/** One address cannot take all connections of a process (rule 80). */
import { createServer } from 'node:http';
import { connect, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import Fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { limitConnections, logRefusedConnections } from '../../src/admission/connections.ts';
import { listenAlso, prepareFurtherAddresses } from '../../src/http/listen.ts';
import { listeningLine } from '../../src/telemetry/logging.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { TestService } from '../support/service.ts';

const request = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Connects and asks. Returns the socket if there was an answer, and undefined if the server has closed the connection. */
async function ask(port: number, host: string): Promise<Socket | undefined> {
  const socket = connect(port, host);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).on('connect', () => socket.write(request));
  const answered = new Promise<Socket>((resolve) => socket.once('data', () => resolve(socket)));
  return await Promise.race([answered, new Promise<undefined>((resolve) => socket.once('close', () => resolve(undefined)))]);
}

async function askTimes(count: number, port: number, host: string): Promise<boolean[]> {
  const answered = [];
  for (let n = 0; n < count; n++) answered.push((await ask(port, host)) !== undefined);
  return answered;
}

/** An address of this machine that is not that of its loopback. */
const own = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.internal === false && each.family === 'IPv4')?.address;

test.skipIf(own === undefined)('an address has 3 connections with CONNECTIONS_PER_ADDRESS=3, and loopback has more (rule 80)', async () => {
  const service = await TestService.start({ HOST: '0.0.0.0', CONNECTIONS_PER_ADDRESS: '3', METRICS_TOKEN: metricsToken });
  const port = Number(new URL(service.url).port);
  const [stranger = '', url] = [own, `http://127.0.0.1:${port}`];
  const first = await ask(port, stranger);
  expect(first).toBeDefined();
  expect(await askTimes(4, port, stranger)).toEqual([true, true, false, false]);
  expect(await askTimes(8, port, '127.0.0.1')).not.toContain(false);
  const metrics = await scrape(url);
  const refused = (limit: string) => metrics.value('entity_service_connections_refused_total', { limit });
  expect([refused('address'), refused('process')]).toEqual([2, 0]);
  expect(metrics.value('entity_service_connections_open')).toBeGreaterThanOrEqual(3 + 8 + 1);
  first?.destroy();
  await expect.poll(() => ask(port, stranger)).toBeDefined();
  await service.close();
});

test.skipIf(own === undefined).for([
  ['a proxy that TRUST_PROXY names', { CONNECTIONS_PER_ADDRESS: '1', TRUST_PROXY: own ?? '' }],
  ['with CONNECTIONS_PER_ADDRESS=0 each address', { CONNECTIONS_PER_ADDRESS: '0' }],
] as const)('%s has any number of connections (rule 80)', async ([, settings]) => {
  const service = await TestService.start({ HOST: '0.0.0.0', ...settings });
  expect(await askTimes(3, Number(new URL(service.url).port), own ?? '')).toEqual([true, true, true]);
  await service.close();
});

test.skipIf(process.platform !== 'linux')('the limit of a process counts connections to all of its addresses (rule 80)', async () => {
  const app = Fastify();
  app.get('/health/live', async () => 'live');
  prepareFurtherAddresses(app);
  const connections = limitConnections(app.server, { process: 3, address: 0, trustProxy: [] }, () => undefined);
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  await listenAlso(app, '127.0.0.2', listeningLine);
  expect(await askTimes(1, port, '127.0.0.1')).toEqual([true]);
  expect(await askTimes(3, port, '127.0.0.2')).toEqual([true, true, false]);
  expect(await askTimes(1, port, '127.0.0.1')).toEqual([false]);
  expect(connections).toEqual({ open: 3, refused: { address: 0, process: 2, files: 0 } });
  app.server.closeAllConnections();
  await app.close();
});

/** A connection from `remoteAddress`, which this machine need not have. */
function connectionFrom(remoteAddress: string | undefined): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
}

test('the addresses of an IPv6 /64 count as one, each IPv4 address for itself, and those without an address for none (rule 80)', () => {
  const server = createServer();
  const connections = limitConnections(server, { process: 100, address: 2, trustProxy: ['2001:db8:0:9::/64'] }, () => undefined);
  const isOpen = (remoteAddress: string | undefined) => {
    const socket = connectionFrom(remoteAddress);
    server.emit('connection', socket);
    return !socket.destroyed;
  };
  expect(['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1::3', '2001:db8:0:2::1'].map(isOpen)).toEqual([true, true, false, true]);
  expect(['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1', '192.0.2.2'].map(isOpen)).toEqual([true, true, false, true]);
  for (const shared of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '2001:db8:0:9::1', undefined])
    expect([shared, shared, shared].map(isOpen)).toEqual([true, true, true]);
  expect(connections).toEqual({ open: 6 + 15, refused: { address: 2, process: 0, files: 0 } });
});

test('the last quarter of the open files, 128 at most, is for other uses than connections (rule 80)', () => {
  const isAccepted = (openFiles: number | undefined, fd: number) => {
    const server = createServer();
    const connections = limitConnections(server, { process: 4_096, address: 0, trustProxy: [], openFiles }, () => undefined);
    const socket = Object.assign(connectionFrom('192.0.2.1'), { _handle: { fd, close: () => undefined } });
    server.emit('connection', socket);
    expect(connections.refused.files).toBe(socket.destroyed ? 1 : 0);
    return !socket.destroyed;
  };
  const places: [number | undefined, number][] = [
    [100, 74],
    [100, 75],
    [1_024, 895],
    [1_024, 896],
    [undefined, 100_000],
  ];
  expect(places.map(([openFiles, fd]) => isAccepted(openFiles, fd))).toEqual([true, false, true, false, true]);
});

test('refused connections are logged at once, and further ones are counted for the line of the next minute', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: unknown[] = [];
  const app = Fastify({ logger: { stream: { write: (line: string) => lines.push(JSON.parse(line)) } } });
  const onRefused = logRefusedConnections(app.log);
  for (let n = 0; n < 5; n++) onRefused('address', '192.0.2.1');
  onRefused('process', '192.0.2.2');
  vi.advanceTimersByTime(60_000);
  onRefused('address', '192.0.2.3');
  const logged = [
    { limit: 'address', address: '192.0.2.1', refused: 1 },
    { limit: 'process', address: '192.0.2.2', refused: 1 },
    { limit: 'address', address: '192.0.2.3', refused: 5 },
  ];
  expect(lines).toEqual(logged.map((line) => expect.objectContaining({ level: 40, event: 'connections.refused', ...line })));
});
