/** A thread that is ended, so that nothing that a caller defines stops the process (rule 101). */
import { expect, test } from 'vitest';
import { FairQueue } from '../../src/admission/queue.ts';
import { Sandbox, SandboxEndedError } from '../../src/sandbox/sandbox.ts';
import { countTurns } from '../support/turns.ts';

const sandbox = new Sandbox<string, string>(new URL('./endless-worker.ts', import.meta.url), {
  processorMs: 2_000,
  elapsedMs: 120_000,
  idleMs: 100,
});
const queue = new FairQueue({ process: [1, 9, 60_000] });
const ended = (error: unknown) => (error instanceof SandboxEndedError ? `${error.limit} ${error.place}` : error);

test('a job without an end and one that takes all memory are ended with their places, and the next job has its output (rule 101)', async () => {
  const turns = countTurns();
  const outcomes = ['endless', 'memory', 'short', 'endless', 'short'].map((input) => queue.run('', () => sandbox.run(input)).catch(ended));
  const short = 'short, and 0 variables of the environment';
  expect(await Promise.all(outcomes)).toEqual(['processor /endless', 'memory /memory', short, 'processor /endless', short]);
  // The thread computed for seconds, in which this one went on.
  expect(turns()).toBeGreaterThan(100);
});

test('an error of a job is that of the caller, and the next job has its output', async () => {
  await expect(sandbox.run('failure')).rejects.toThrow('a defect');
  expect(await sandbox.run('short')).toMatch(/^short/);
});

test('a second job at once is a defect of the caller, and the first one has its output', async () => {
  const first = sandbox.run('short');
  await expect(sandbox.run('short')).rejects.toThrow('one job at a time');
  expect(await first).toMatch(/^short/);
});
