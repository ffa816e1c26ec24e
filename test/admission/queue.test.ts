import { describe, expect, test } from 'vitest';
import { Admission } from '../../src/admission/admission.ts';
import { FairQueue, type PlacesLimits, type Schedule } from '../../src/admission/queue.ts';

const limits: PlacesLimits = { process: [2, 3, 2000] };
const one: PlacesLimits = { process: [1, 1, 2000] };
/** The only flow of a queue. */
const flow = '';

/** A clock that a test moves, with the timers that are still set. */
function manualClock() {
  const timers = new Set<{ at: number; action: () => void }>();
  let now = 0;
  const schedule: Schedule = (ms, action) => {
    const timer = { at: now + ms, action };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const advance = (ms: number) => {
    now += ms;
    for (const timer of timers) if (timer.at <= now) timer.action();
  };
  return { schedule, advance, timers };
}

/** A job that a test ends. */
function job() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let started = false;
  const run = () => {
    started = true;
    return promise;
  };
  return { run, finish: () => resolve('done'), fail: () => reject(new Error('job failed')), started: () => started };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue of one flow', () => {
  test('runs as many jobs as it has permits and the others in order of arrival (rule 38)', async () => {
    const queue = new FairQueue(limits);
    const jobs = [job(), job(), job(), job()];
    const results = jobs.map(({ run }) => queue.run(flow, run));
    await settled();
    expect(jobs.map((one) => one.started())).toEqual([true, true, false, false]);
    jobs[1]?.finish();
    await settled();
    expect(jobs.map((one) => one.started())).toEqual([true, true, true, false]);
    for (const one of jobs) one.finish();
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done', 'done']);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  test('503 — refuses at once when it is full, and says when to retry (rule 38: hashing cannot exhaust the process)', async () => {
    const queue = new FairQueue(limits);
    const jobs = Array.from({ length: 5 }, job);
    const results = jobs.map(({ run }) => queue.run(flow, run));
    const late = job();
    await expect(queue.run(flow, late.run)).rejects.toMatchObject({ code: 'busy', status: 503, headers: { 'Retry-After': '1' } });
    for (const one of jobs) one.finish();
    expect(await Promise.all(results)).toHaveLength(5);
    expect(late.started()).toBe(false);
  });

  test('503 — refuses a job that has waited too long, and leaves no timer behind (rule 38)', async () => {
    const clock = manualClock();
    const queue = new FairQueue(limits, { schedule: clock.schedule });
    const jobs = [job(), job(), job()];
    const results = jobs.map(({ run }) => queue.run(flow, run));
    clock.advance(1999);
    expect(clock.timers.size).toBe(1);
    clock.advance(1);
    await expect(results[2]).rejects.toMatchObject({ code: 'busy' });
    for (const one of jobs) one.finish();
    await Promise.all(results.slice(0, 2));
    expect(jobs[2]?.started()).toBe(false);
    expect(clock.timers.size).toBe(0);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  test('refuses one waiting job in each turn of the event loop, so that other requests are served in between (rule 38)', async () => {
    const clock = manualClock();
    const queue = new FairQueue(limits, { schedule: clock.schedule });
    const jobs = Array.from({ length: 5 }, job);
    let refused = 0;
    const results = jobs.map(({ run }) => queue.run(flow, run).catch(() => (refused += 1)));
    clock.advance(2000);
    const seen = [];
    for (let turn = 0; turn < 4; turn += 1) {
      seen.push(refused);
      await settled();
    }
    expect(seen).toEqual([0, 1, 2, 3]);
    for (const one of jobs) one.finish();
    await Promise.all(results);
  });

  test('returns the permit when the job ends, not when its client leaves (rule 38: clients that leave do not free permits)', async () => {
    const queue = new FairQueue(one);
    const abandoned = job();
    const first = queue.run(flow, abandoned.run);
    const client = Promise.race([first, Promise.resolve('gone')]);
    const second = job();
    const next = queue.run(flow, second.run);
    expect(await client).toBe('gone');
    await settled();
    expect(second.started()).toBe(false);
    abandoned.finish();
    await first;
    second.finish();
    expect(await next).toBe('done');
  });

  test('passes the permit on after a job has failed', async () => {
    const queue = new FairQueue(one);
    const failing = job();
    const first = queue.run(flow, failing.run);
    const second = job();
    const next = queue.run(flow, second.run);
    failing.fail();
    await expect(first).rejects.toThrow('job failed');
    second.finish();
    expect(await next).toBe('done');
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  test('counts a permit once even if it is returned twice', async () => {
    const queue = new FairQueue({ process: [1, 0, 0] });
    const leave = await queue.enter(flow);
    leave();
    leave();
    const again = await queue.enter(flow);
    await expect(queue.enter(flow)).rejects.toMatchObject({ code: 'busy' });
    again();
  });

  test('runs all of 50 concurrent jobs on one core and on many (rule 38)', async () => {
    for (const cores of [1, 2, 64]) {
      const admission = new Admission({ cores });
      let running = 0;
      let most = 0;
      const work = async () => {
        most = Math.max(most, (running += 1));
        await settled();
        running -= 1;
      };
      await Promise.all(Array.from({ length: 50 }, () => admission.run('hashing', { flow }, work)));
      expect(most).toBe(Math.min(4, cores));
    }
  });
});

describe('the queue of many flows', () => {
  /** A queue with the names of jobs in the order in which they begin. */
  /** Without a `schedule` no wait comes to its end. */
  function openQueue(limits: PlacesLimits, schedule: Schedule = () => () => undefined) {
    const queue = new FairQueue(limits, { schedule });
    const begun: string[] = [];
    const jobs = new Map<string, ReturnType<typeof job>>();
    const add = (flow: string, name: string, pauseMs = 0) => {
      const added = job();
      jobs.set(name, added);
      const run = () => {
        begun.push(name);
        return added.run();
      };
      return queue.run(flow, run, () => pauseMs);
    };
    const finish = async (name: string) => {
      jobs.get(name)?.finish();
      await settled();
    };
    return { queue, begun, add, finish };
  }

  test('takes one job of each flow in rotation, and those of a flow in order (rule 165)', async () => {
    const { begun, add, finish } = openQueue({ flow: [2, 9, 1], process: [3, 9, 1] });
    const results = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1'].map((name) => add(name.charAt(0), name));
    await settled();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    for (const name of ['a1', 'b1', 'a2', 'c1', 'b2', 'a3', 'b3', 'a4']) await finish(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'a3', 'b3', 'a4']);
    expect(await Promise.all(results)).toHaveLength(8);
  });

  test('a flow with all of its places leaves those of the process to others (rule 165)', async () => {
    const { queue, begun, add, finish } = openQueue({ flow: [1, 1, 1], process: [2, 9, 1] });
    const results = ['a1', 'a2', 'b1'].map((name) => add(name.charAt(0), name));
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    await expect(add('a', 'a3')).rejects.toMatchObject({ code: 'busy' });
    expect([queue.running, queue.waiting, queue.refused]).toEqual([2, 1, 1]);
    for (const name of ['a1', 'b1', 'a2']) await finish(name);
    await Promise.all(results);
    expect([queue.running, queue.waiting, queue.refused]).toEqual([0, 0, 1]);
  });

  test('503 — a job waits as long as the limits of its flow and of the process say together, and others do not lose their turn', async () => {
    const clock = manualClock();
    const { queue, begun, add, finish } = openQueue({ flow: [1, 9, 600], process: [1, 9, 400] }, clock.schedule);
    const results = ['a1', 'a2', 'b1'].map((name) => add(name.charAt(0), name).catch(({ code }: { code: string }) => code));
    clock.advance(999);
    const late = add('c', 'c1');
    clock.advance(1);
    await finish('a1');
    expect(begun).toEqual(['a1', 'c1']);
    await finish('c1');
    expect(await Promise.all([...results, late])).toEqual(['done', 'busy', 'busy', 'done']);
    expect([queue.waiting, clock.timers.size]).toEqual([0, 0]);
  });

  test('rejects those of one flow that wait, and no others', async () => {
    const { queue, begun, add, finish } = openQueue({ flow: [1, 9, 1] });
    const results = ['a1', 'b1', 'a2', 'b2'].map((name) => add(name.charAt(0), name).catch(({ message }: Error) => message));
    queue.rejectWaiting('a', () => new Error('too many') as never);
    for (const name of ['a1', 'b1', 'b2']) await finish(name);
    expect(await Promise.all(results)).toEqual(['done', 'done', 'too many', 'done']);
    expect(begun).toEqual(['a1', 'b1', 'b2']);
  });
});
