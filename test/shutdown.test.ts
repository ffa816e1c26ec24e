import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { lastStepMs, processStopSteps, runSteps, serviceStopSteps, stopTimeoutMs, type ShutdownStep } from '../src/shutdown.ts';
import { readDocument, section, tableRows } from './support/markdown.ts';

const nothing = async () => undefined;
const reliability = readDocument('docs/reliability.md');

function rowsOf(steps: ShutdownStep[]): string[][] {
  return steps.map(({ name, timeoutMs }) => [name, timeoutMs === undefined ? '-' : `${timeoutMs} ms`]);
}

test('docs/reliability.md lists each step of a stop with its time limit, in order (rule 92)', () => {
  const close = { close: nothing };
  const service = { app: Fastify(), background: { stop: nothing }, recordStop: nothing, traces: close, listener: close, pool: close };
  expect(tableRows(section(reliability, '### Steps of a process'))).toEqual(rowsOf(processStopSteps({}, Promise.resolve())));
  expect(tableRows(section(reliability, '### Steps of a service'))).toEqual(rowsOf(serviceStopSteps(service)));
  expect(section(reliability, '## Stopping')).toContain(`take ${stopTimeoutMs / 1_000} seconds at most`);
  expect(section(reliability, '### Steps of a process')).toContain(`After ${lastStepMs / 1_000} seconds`);
});

test('a step begins when the one before has ended, also after one that failed; the failure is thrown at the end', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const running = runSteps([
    { name: 'waits', run: () => (begun.push('waits'), promise) },
    { name: 'fails', run: () => (begun.push('fails'), Promise.reject(new Error('broken'))) },
    { name: 'last', run: () => begun.push('last') },
  ]);
  expect(begun).toEqual(['waits']);
  resolve();
  await expect(running).rejects.toThrow('broken');
  expect(begun).toEqual(['waits', 'fails', 'last']);
});

test('a step that takes longer than its time limit is told, and the next one begins', async () => {
  let told: AbortSignal | undefined;
  const ended: boolean[] = [];
  await runSteps([
    { name: 'slow', timeoutMs: 1, run: (timeout) => ((told = timeout), new Promise(() => undefined)) },
    { name: 'next', run: () => ended.push(told?.aborted ?? false) },
  ]);
  expect(ended).toEqual([true]);
});

test('after the deadline all steps begin at once, only the last one is waited for, and the error names the step that took too long', async () => {
  const deadline = new AbortController();
  const forever = () => new Promise<void>(() => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const running = runSteps(
    [
      { name: 'slow', timeoutMs: 60_000, run: () => (begun.push('slow'), forever()) },
      { name: 'next', run: () => (begun.push('next'), forever()) },
      { name: 'last', run: () => (begun.push('last'), promise.then(() => begun.push('done'))) },
    ],
    deadline.signal,
  );
  expect(begun).toEqual(['slow']);
  deadline.abort();
  await expect.poll(() => begun).toEqual(['slow', 'next', 'last']);
  resolve();
  await expect(running).rejects.toThrow('not done in time: slow');
  expect(begun).toContain('done');
});
