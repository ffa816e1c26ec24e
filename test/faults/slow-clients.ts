/**
 * Clients that send their request a byte at a time. Other clients are served meanwhile, and the slow ones are disconnected in the end (rule
 * 80).
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from '../../scripts/lib/processes.ts';
import { makeCallers } from './callers.ts';
import { Caller } from './http.ts';
import type { Outcome, Progress } from './outcome.ts';

export interface SlowPlan {
  clients: number;
  /** The duration of each measurement of the other clients: first alone, then beside the slow ones. */
  seconds: number;
  /** Whether to wait until the slow ones are disconnected, which takes half a minute. */
  toTheEnd: boolean;
}

const byteMilliseconds = 200;
/** The limit for an answer to the other clients, with reserves for a busy machine. */
const patienceMilliseconds = 3_000;
/** 30 seconds for the request, checked every 5 (rule 80), and reserves for a busy machine. */
const endMilliseconds = 45_000;

export async function serveBesideSlowClients(
  { clients, seconds, toTheEnd }: SlowPlan,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const server = await startService(settings, opened);
  const { apiKey } = await makeCallers(databaseUrl, { users: 1 });
  const watch = () => watchOthers(server.port, apiKey, seconds);
  await watch();
  const alone = await watch();
  progress(`alone: ${alone.served} answers, the slowest after ${alone.slowest.toFixed(0)} ms`);
  const crowd = Array.from({ length: clients }, (_, index) => new SlowClient(server.port, apiKey, index % 2 === 0));
  opened.defer(() => {
    for (const client of crowd) client.stop();
  });
  while (crowd.some(({ connected }) => !connected)) await delay(10);
  const beside = await watch();
  progress(`beside ${clients} slow clients: ${beside.served} answers, the slowest after ${beside.slowest.toFixed(0)} ms`);
  const violations: string[] = [];
  if (beside.failed > 0) violations.push(`${beside.failed} requests of other clients failed`);
  if (beside.slowest > patienceMilliseconds) violations.push(`other clients waited for ${beside.slowest.toFixed(0)} ms`);
  const deadline = performance.now() + (toTheEnd ? endMilliseconds : 0);
  while (performance.now() < deadline && crowd.some(({ ended }) => !ended)) await delay(100);
  const kept = crowd.filter(({ ended }) => !ended).length;
  if (toTheEnd && kept > 0) violations.push(`${kept} slow clients are still connected`);
  for (const { answer } of crowd) if (answer !== '' && !answer.startsWith('HTTP/1.1 408 ')) violations.push(`a slow client got ${answer}`);
  return {
    violations,
    figures: {
      'slow clients': clients,
      'other clients served alone': alone.served,
      'other clients served beside them': beside.served,
      'slowest answer alone (ms)': Math.round(alone.slowest),
      'slowest answer beside them (ms)': Math.round(beside.slowest),
      'disconnected with 408': crowd.filter(({ answer }) => answer.startsWith('HTTP/1.1 408 ')).length,
    },
  };
}

/** Sends its head, or its body, a byte at a time. */
class SlowClient {
  connected = false;
  ended = false;
  answer = '';
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;

  constructor(port: number, apiKey: string, withBody: boolean) {
    const head = `POST /rest/entity/slow HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n`;
    let rest = withBody ? `{"text": "${'x'.repeat(900)}` : head;
    this.#socket = connect(port, '127.0.0.1', () => {
      this.connected = true;
      if (withBody) this.#socket.write(`${head}\r\n`);
    });
    this.#timer = setInterval(() => {
      if (rest !== '') this.#socket.write(rest.slice(0, 1));
      rest = rest.slice(1);
    }, byteMilliseconds);
    this.#socket.setEncoding('latin1').on('data', (text: string) => (this.answer += text));
    this.#socket.on('error', () => this.stop()).on('close', () => this.stop());
  }

  stop(): void {
    this.ended = true;
    clearInterval(this.#timer);
    this.#socket.destroy();
  }
}

/** Eight clients that create and read, one request after the other. */
async function watchOthers(port: number, apiKey: string, seconds: number): Promise<{ served: number; failed: number; slowest: number }> {
  const seen = { served: 0, failed: 0, slowest: 0 };
  const end = performance.now() + seconds * 1_000;
  const headers = { 'x-api-key': apiKey };
  const work = async () => {
    const caller = new Caller(() => port);
    while (performance.now() < end) {
      const began = performance.now();
      const { status } = await caller.send('POST', '/rest/entity/quick', { headers, json: { a: 1 } }).catch(() => ({ status: 0 }));
      seen[status === 201 ? 'served' : 'failed'] += 1;
      seen.slowest = Math.max(seen.slowest, performance.now() - began);
    }
    caller.close();
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return seen;
}
