/**
 * A closed loop of keep-alive connections: each sends its next request when the last answer is complete, or an open one of so many requests
 * a second. It reads no more of an answer than its status and its length, and makes no objects of it. The load shares a core with
 * PostgreSQL, and pauses of its garbage collector would count as the server's. It measures each answer in microseconds. autocannon takes up
 * to half as much again and rounds to milliseconds.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The bytes of the n-th request. */
export type RequestOf = (n: number) => Buffer;

export interface Round {
  /** Answers that were complete before the end. */
  answers: number;
  seconds: number;
  /** Of each of these, in milliseconds. */
  latencies: number[];
  /** How many answers had each status, those after the end included. */
  statuses: Map<number, number>;
  refused: Refusals;
}

/** Answers that were not 2xx. */
export interface Refusals {
  count: number;
  /** The first of them, whole, for a person. */
  first: string | undefined;
}

/** Called with each answer as it arrives; `inTime` says whether that was before the end. */
export type OnAnswer = (answer: Answer, inTime: boolean) => void;

/**
 * Sends requests over `connections` connections for `seconds`, as fast as they are answered. Rejects when a connection breaks or an answer has
 * no length.
 */
export async function drive(port: number, connections: number, seconds: number, requestOf: RequestOf, onAnswer?: OnAnswer): Promise<Round> {
  let n = 0;
  return converseOverAll(port, connections, seconds, {
    take: () => ({ bytes: requestOf(n++), dueAt: performance.now() }),
    observe: onAnswer,
  });
}

/**
 * The same at a rate of `perSecond`, sent each millisecond. What finds no connection free waits for one, and its latency counts from when it was
 * due: a server that falls behind does not slow down those who ask.
 */
export async function pace(port: number, connections: number, seconds: number, requestOf: RequestOf, perSecond: number): Promise<Round> {
  let n = 0;
  const due: Next[] = [];
  const free: ((next: Next | undefined) => void)[] = [];
  const began = performance.now();
  const tick = setInterval(() => {
    const dueAt = performance.now();
    for (; n < ((dueAt - began) / 1_000) * perSecond; n++) {
      const next = { bytes: requestOf(n), dueAt };
      const take = free.shift();
      if (take) take(next);
      else due.push(next);
    }
  }, 1);
  try {
    return await converseOverAll(port, connections, seconds, {
      take: () => due.shift() ?? new Promise((resolve) => free.push(resolve)),
      // At a low rate some connections are never needed, and the server would end them as too slow.
      onEnd: () => {
        for (const send of free.splice(0)) send(undefined);
      },
    });
  } finally {
    clearInterval(tick);
  }
}

/**
 * Offers `perSecond` requests a second from at most `connections` clients, which connect when they are needed. A request that finds all of them
 * waiting for an answer is left out. Waits for all answers. Rejects when a connection breaks or an answer has no length.
 */
export async function offer(
  port: number,
  connections: number,
  seconds: number,
  requestOf: RequestOf,
  perSecond: number,
  onAnswer: OnAnswer,
): Promise<void> {
  const idle: ((next: Next | undefined) => void)[] = [];
  const working: Promise<void>[] = [];
  const began = performance.now();
  const end = began + seconds * 1_000;
  const nextRequest = () => (performance.now() < end ? new Promise<Next | undefined>((resolve) => idle.push(resolve)) : undefined);
  const work = async (first: Next) => {
    const connection = await open(port);
    const requests = [first];
    await converse(
      connection,
      () => requests.pop() ?? nextRequest(),
      (answer) => onAnswer(answer, answer.at <= end),
    ).finally(() => connection.socket.destroy());
  };
  for (let n = 0; performance.now() < end; await delay(1)) {
    const dueAt = performance.now();
    for (; n < ((dueAt - began) / 1_000) * perSecond; n++) {
      const take = idle.pop();
      if (take) take({ bytes: requestOf(n), dueAt });
      else if (working.length < connections) {
        const client = work({ bytes: requestOf(n), dueAt });
        // Its failure is thrown at the end.
        client.catch(() => undefined);
        working.push(client);
      }
    }
  }
  for (const take of idle) take(undefined);
  await Promise.all(working);
}

/** A request, and when it should have been sent. */
interface Next {
  bytes: Buffer;
  dueAt: number;
}

interface Conversation {
  /** The next request of a connection. */
  take: () => Next | Promise<Next | undefined>;
  observe?: OnAnswer | undefined;
  /** Called when the time is over. */
  onEnd?: () => void;
}

async function converseOverAll(port: number, connections: number, seconds: number, { take, observe, onEnd }: Conversation): Promise<Round> {
  const all = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const round: Round = { answers: 0, seconds, latencies: [], statuses: new Map(), refused: { count: 0, first: undefined } };
  const end = performance.now() + seconds * 1_000;
  const nextRequest = () => (performance.now() < end ? take() : undefined);
  const onAnswer = (answer: Answer) => {
    observe?.(answer, answer.at <= end);
    if (answer.at <= end) {
      round.answers++;
      round.latencies.push(answer.at - answer.dueAt);
    }
    round.statuses.set(answer.status, (round.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status >= 200 && answer.status < 300) return;
    round.refused.count++;
    round.refused.first ??= answer.bytes.toString('latin1');
  };
  const timer = setTimeout(() => onEnd?.(), seconds * 1_000);
  try {
    await Promise.all(all.map((connection) => converse(connection, nextRequest, onAnswer)));
  } finally {
    clearTimeout(timer);
    for (const { socket } of all) socket.destroy();
  }
  return round;
}

/** Sends one request and returns the whole answer. */
export async function ask(port: number, request: Buffer): Promise<{ status: number; body: string }> {
  const connection = await open(port);
  const requests = [{ bytes: request, dueAt: performance.now() }];
  let status = 0;
  let body = '';
  await converse(
    connection,
    () => requests.pop(),
    (answer) => {
      status = answer.status;
      body = answer.bytes.toString('utf8', answer.bytes.indexOf(endOfHead) + endOfHead.length);
    },
  );
  connection.socket.destroy();
  return { status, body };
}

export interface Answer {
  status: number;
  /** Head and body. They are overwritten with the next answer. */
  bytes: Buffer;
  /** When the request should have been sent and when the answer was complete, in milliseconds of the monotonic clock. */
  dueAt: number;
  at: number;
}

const endOfHead = Buffer.from('\r\n\r\n');
/** As servers spell it. */
const lengthNames = ['content-length: ', 'Content-Length: '].map((name) => Buffer.from(`\r\n${name}`));

interface Connection {
  socket: Socket;
  onBytes: (bytes: Buffer) => void;
}

/** What arrives is looked at before anything else does, so one buffer is enough for all connections. */
const received = Buffer.alloc(65_536);

function open(port: number): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const read = (length: number) => {
    connection.onBytes(received.subarray(0, length));
    return true;
  };
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: received, callback: read } }, () =>
    resolve(connection),
  );
  const connection: Connection = { socket, onBytes: () => undefined };
  socket.once('error', reject);
  return promise;
}

/** Sends what `nextRequest` gives, one after the other, until it gives nothing. */
function converse(
  connection: Connection,
  nextRequest: () => Next | Promise<Next | undefined> | undefined,
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { socket } = connection;
  let begun: Buffer | undefined;
  let dueAt = 0;
  const send = (next: Next | undefined) => {
    if (!next) return resolve();
    dueAt = next.dueAt;
    socket.write(next.bytes);
  };
  const proceed = () => {
    const next = nextRequest();
    if (next instanceof Promise) void next.then(send);
    else send(next);
  };
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the connection was closed in the middle of a round')));
  connection.onBytes = (arrived) => {
    const bytes = begun ? Buffer.concat([begun, arrived]) : arrived;
    const length = lengthOf(bytes);
    if (Number.isNaN(length)) return reject(new Error(`an answer without a length:\n${bytes.toString('latin1')}`));
    if (length === undefined || bytes.length < length) {
      begun = begun ? bytes : Buffer.from(bytes);
      return;
    }
    begun = undefined;
    onAnswer({ status: numberAt(bytes, 'HTTP/1.1 '.length), bytes, dueAt, at: performance.now() });
    proceed();
  };
  proceed();
  return promise;
}

/** How many bytes the answer has, head included; undefined while the head is not complete, NaN when it does not say. */
function lengthOf(bytes: Buffer): number | undefined {
  const head = bytes.indexOf(endOfHead);
  if (head === -1) return undefined;
  for (const name of lengthNames) {
    const at = bytes.indexOf(name);
    if (at !== -1 && at < head) return head + endOfHead.length + numberAt(bytes, at + name.length);
  }
  return Number.NaN;
}

/** The number that begins there; NaN when none does. */
function numberAt(bytes: Buffer, from: number): number {
  let number = 0;
  for (let at = from; ; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return at === from ? Number.NaN : number;
    number = number * 10 + digit;
  }
}
