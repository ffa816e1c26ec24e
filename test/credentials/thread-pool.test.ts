/** The priority of the threads that hash passwords. Only Linux gives each thread its own priority. */
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { lowerThreadPoolPriority } from '../../src/credentials/thread-pool.ts';

test.runIf(process.platform === 'linux')('threads that hash passwords yield to the thread that serves requests (rule 38)', async () => {
  const lowered = await lowerThreadPoolPriority();
  expect(lowered).toBe(Number(process.env['UV_THREADPOOL_SIZE'] ?? 4));
  const threads = await readdir('/proc/self/task');
  const names = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/comm`, 'utf8')));
  const priorities = threads.map((thread) => getPriority(Number(thread)));
  const ofPool = priorities.filter((_, index) => names[index]?.startsWith('libuv-worker'));
  expect(ofPool).toEqual(Array.from({ length: lowered }, () => 10));
  expect(getPriority(process.pid), 'the priority of the thread that serves requests is unchanged').toBeLessThan(10);
});

test.runIf(process.platform === 'linux')('threads that end meanwhile change nothing for those that hash passwords (rule 38)', async () => {
  const lowered: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const live = new Set(Array.from({ length: 4 }, () => new Worker('', { eval: true })));
    for (const worker of live) worker.once('exit', () => live.delete(worker));
    while (live.size > 0) lowered.push(await lowerThreadPoolPriority());
  }
  expect(new Set(lowered)).toEqual(new Set([Number(process.env['UV_THREADPOOL_SIZE'] ?? 4)]));
});
