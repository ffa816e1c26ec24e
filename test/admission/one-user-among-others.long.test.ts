/**
 * One user with 24 connections and any mix of operations beside another user: few pieces of its work stand before each request of the other (rule 165). A piece
 * is a job of a class, or a part of a request that the event loop runs without a pause. Times are those of `npm run bench:patches`.
 */
import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { classNames, classOf } from '../../src/admission/classes.ts';
import type { FairQueue, Leave } from '../../src/admission/queue.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { useService, type Answer, type Call } from '../support/service.ts';

const service = useService({ RATE_LIMIT: 'on' });

const connections = 24;
const rounds = 6;
const mostPieces = 5;

/** The work of a user that runs, and counts of what began. */
interface Work {
  running: Map<FairQueue, number>;
  begun: Map<FairQueue, number>;
  /** Parts of requests on the event loop. */
  parts: number;
}

const newWork = (): Work => ({ running: new Map(), begun: new Map(), parts: 0 });
const change = (counts: Map<FairQueue, number>, queue: FairQueue, by: number) => counts.set(queue, (counts.get(queue) ?? 0) + by);

/** Counts the pieces of `loud` that stand before each request of `quiet`. */
function countPieces(loud: string, quiet: string, quietCookie: string) {
  const work = newWork();
  /** The pieces before the present request of the quiet user; it has one at a time. */
  let before = 0;
  let partsAtArrival: number | undefined;
  const follow = (queue: FairQueue, leave: Leave): Leave => {
    change(work.running, queue, 1);
    change(work.begun, queue, 1);
    return (pauseMs) => {
      change(work.running, queue, -1);
      leave(pauseMs);
    };
  };
  const { admission } = service().context;
  for (const queue of classNames.filter((name) => classOf(name).places === undefined).map((name) => admission.queueOf(name))) {
    const enter = queue.enter.bind(queue);
    vi.spyOn(queue, 'enter').mockImplementation(async (flow) => {
      const [begunBefore, runningBefore, waitingBefore] = [work.begun.get(queue) ?? 0, work.running.get(queue) ?? 0, queue.waiting];
      const entering = enter(flow);
      const waits = queue.waiting > waitingBefore;
      const leave = await entering;
      if (flow === loud) return follow(queue, leave);
      if (flow === quiet && waits) before += runningBefore + (work.begun.get(queue) ?? 0) - begunBefore;
      return leave;
    });
  }
  const { ledger } = admission;
  const time = ledger.time.bind(ledger);
  vi.spyOn(ledger, 'time').mockImplementation((user, run) => {
    if (user === `user ${loud}`) work.parts += 1;
    if (user === `user ${quiet}` && partsAtArrival !== undefined) {
      before += work.parts - partsAtArrival;
      partsAtArrival = undefined;
    }
    return time(user, run);
  });
  const arrive = ({ headers }: IncomingMessage) => {
    if (headers.cookie === quietCookie) partsAtArrival = work.parts;
  };
  service().app.server.prependListener('request', arrive);
  onTestFinished(() => {
    vi.restoreAllMocks();
    service().app.server.off('request', arrive);
  });
  return {
    work,
    takeCount: () => {
      const count = before;
      before = 0;
      return count;
    },
  };
}

const patch = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`m${n}`, {}]));
const path = '/rest/entity/order';

/** A mix of operations of a user, on entities of its own. Each call makes the next one. */
function mixOf(cookie: string, code: string, heavyKey: string) {
  const send = (method: string, to: string, call: Call = {}) => service().call<Entity>(method, to, { cookie, ...call });
  let number = 0;
  const create = () => send('POST', path, { json: { code: `${code}-${(number += 1)}`, amount: number } });
  const operations: Record<string, () => Promise<Answer<Entity>>> = {
    create,
    patch: () => send('POST', `/rest/entity/blob/${heavyKey}`, { json: patch }),
    'heavy get': () => send('GET', `/rest/entity/blob/${heavyKey}`),
    history: () => send('GET', `/rest/entity/blob/${heavyKey}/history?limit=3`),
    list: () => send('GET', `${path}?sort=-amount&limit=100`),
    aggregation: () => send('POST', `${path}/aggregate`, { json: { groupBy: ['amount'], measures: { n: { $count: true } } } }),
    upsert: () => send('POST', `${path}/upsert?by=code`, { json: { code, amount: (number += 1) } }),
    batch: () =>
      send('POST', '/rest/batch', {
        json: { operations: Array.from({ length: 20 }, () => ({ op: 'create', name: 'note', fields: { n: (number += 1) } })) },
      }),
    bulk: () => send('POST', '/rest/entity/note/bulk', { json: Array.from({ length: 200 }, () => ({ n: (number += 1) })) }),
    keyed: () => send('POST', '/rest/entity/note', { json: { n: 1 }, headers: { 'idempotency-key': `${code}-${(number += 1)}` } }),
    delete: async () => {
      const { status, body } = await create();
      return await send('DELETE', `${path}/${status === 201 ? body.key : '1'}`);
    },
    export: () => send('GET', `${path}/export`),
  };
  return operations;
}

test('beside 24 connections of a user with any mix of operations at most five pieces of its work stand before a request (rule 165)', async () => {
  const declared = { properties: { code: { type: 'string' }, amount: { type: 'integer' } }, required: ['code'] };
  await declareType(service(), 'order', { ...declared, 'x-unique': [{ fields: ['code'] }], 'x-index': [['amount']] });
  const userOf = async (name: string) => {
    const cookie = await service().openSession((await service().createUser(name)).id);
    const { body } = await service().call<Entity>('POST', '/rest/entity/blob', { cookie, json: { text: 'x'.repeat(300_000) } });
    return { cookie, heavyKey: body.key };
  };
  const [ada, bob] = [await userOf('ada'), await userOf('bob')];
  const { work, takeCount } = countPieces('ada', 'bob', bob.cookie);
  const ending = new AbortController();
  const statuses = new Map<string, Set<number>>();
  const loud = Array.from({ length: connections }, async (_, connection) => {
    const operations = Object.entries(mixOf(ada.cookie, `a${connection}`, ada.heavyKey));
    for (let next = connection; !ending.signal.aborted; next++) {
      const [name, run] = operations[next % operations.length] ?? ['', () => Promise.reject()];
      const { status } = await run();
      statuses.set(name, (statuses.get(name) ?? new Set()).add(status));
    }
  });
  const own = mixOf(bob.cookie, 'b', bob.heavyKey);
  await expect.poll(() => statuses.size, { timeout: 60_000 }).toBe(Object.keys(own).length);
  const counts: [name: string, pieces: number][] = [];
  takeCount();
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(own)) {
      const { status, text } = await run();
      expect(status, `${name}: ${text.slice(0, 300)}`).toBeLessThan(300);
      counts.push([name, takeCount()]);
    }
  }
  ending.abort();
  await Promise.all(loud);
  expect(counts.filter(([, pieces]) => pieces > mostPieces)).toEqual([]);
  // The other user did have work of all kinds all the time.
  expect([...statuses].filter(([, seen]) => ![...seen].some((status) => status < 300))).toEqual([]);
  expect(work.parts).toBeGreaterThan(connections * rounds);
  expect([...work.begun.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(connections * rounds);
}, 240_000);
