import { describe, expect, test } from 'vitest';
import { createHashingQueue, BoundedQueue, KeyedQueues, type Schedule } from '../../src/admission/queue.ts';

const limits = { running: 2, waiting: 3, waitMs: 2000 };

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

describe('the bounded queue', () => {
  test('runs as many jobs as it has permits and the others in order of arrival (rule 38)', async () => {
    const queue = new BoundedQueue(limits);
    const jobs = [job(), job(), job(), job()];
    const results = jobs.map(({ run }) => queue.run(run));
    await settled();
    expect(jobs.map((one) => one.started())).toEqual([true, true, false, false]);
    jobs[1]?.finish();
    await settled();
    expect(jobs.map((one) => one.started())).toEqual([true, true, true, false]);
    for (const one of jobs) one.finish();
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done', 'done']);
    expect(queue.idle).toBe(true);
  });

  test('503 — refuses at once when it is full, and says when to retry (rule 38: hashing cannot exhaust the process)', async () => {
    const queue = new BoundedQueue(limits);
    const jobs = Array.from({ length: 5 }, job);
    const results = jobs.map(({ run }) => queue.run(run));
    const late = job();
    await expect(queue.run(late.run)).rejects.toMatchObject({ code: 'busy', status: 503, headers: { 'Retry-After': '1' } });
    for (const one of jobs) one.finish();
    expect(await Promise.all(results)).toHaveLength(5);
    expect(late.started()).toBe(false);
  });

  test('503 — refuses a job that has waited too long, and leaves no timer behind (rule 38)', async () => {
    const clock = manualClock();
    const queue = new BoundedQueue(limits, { schedule: clock.schedule });
    const jobs = [job(), job(), job()];
    const results = jobs.map(({ run }) => queue.run(run));
    clock.advance(1999);
    expect(clock.timers.size).toBe(1);
    clock.advance(1);
    await expect(results[2]).rejects.toMatchObject({ code: 'busy' });
    for (const one of jobs) one.finish();
    await Promise.all(results.slice(0, 2));
    expect(jobs[2]?.started()).toBe(false);
    expect(clock.timers.size).toBe(0);
    expect(queue.idle).toBe(true);
  });

  test('refuses one waiting job in each turn of the event loop, so that other requests are served in between (rule 38)', async () => {
    const clock = manualClock();
    const queue = new BoundedQueue(limits, { schedule: clock.schedule });
    const jobs = Array.from({ length: 5 }, job);
    let refused = 0;
    const results = jobs.map(({ run }) => queue.run(run).catch(() => (refused += 1)));
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
    const queue = new BoundedQueue({ running: 1, waiting: 1, waitMs: 2000 });
    const abandoned = job();
    const first = queue.run(abandoned.run);
    const client = Promise.race([first, Promise.resolve('gone')]);
    const second = job();
    const next = queue.run(second.run);
    expect(await client).toBe('gone');
    await settled();
    expect(second.started()).toBe(false);
    abandoned.finish();
    await first;
    second.finish();
    expect(await next).toBe('done');
  });

  test('passes the permit on after a job has failed', async () => {
    const queue = new BoundedQueue({ running: 1, waiting: 1, waitMs: 2000 });
    const failing = job();
    const first = queue.run(failing.run);
    const second = job();
    const next = queue.run(second.run);
    failing.fail();
    await expect(first).rejects.toThrow('job failed');
    second.finish();
    expect(await next).toBe('done');
    expect(queue.idle).toBe(true);
  });

  test('counts a permit once even if it is returned twice', async () => {
    const queue = new BoundedQueue({ running: 1, waiting: 0, waitMs: 0 });
    const leave = await queue.enter();
    leave();
    leave();
    const again = await queue.enter();
    await expect(queue.enter()).rejects.toMatchObject({ code: 'busy' });
    again();
  });

  test('runs all of 50 concurrent jobs on one core and on many (rule 38)', async () => {
    for (const cores of [1, 2, 64]) {
      const queue = createHashingQueue(cores);
      let running = 0;
      let most = 0;
      const work = async () => {
        most = Math.max(most, (running += 1));
        await settled();
        running -= 1;
      };
      await Promise.all(Array.from({ length: 50 }, () => queue.run(work)));
      expect(most).toBe(Math.min(4, cores));
    }
  });
});

test('queues by key count running, waiting and refused jobs, also of keys without jobs', async () => {
  const queues = new KeyedQueues({ running: 1, waiting: 1, waitMs: 2000 });
  const jobs = [job(), job(), job()];
  const [ada, waiting, bob] = ['ada', 'ada', 'bob'].map((key, index) => queues.run(key, () => jobs[index]?.run() ?? Promise.reject()));
  await expect(queues.run('ada', () => Promise.resolve())).rejects.toMatchObject({ code: 'busy' });
  expect([queues.running, queues.waiting, queues.refused]).toEqual([2, 1, 1]);
  for (const { finish } of jobs) finish();
  await Promise.all([ada, waiting, bob]);
  expect([queues.running, queues.waiting, queues.refused]).toEqual([0, 0, 1]);
});
