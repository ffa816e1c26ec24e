import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { processTimeline, runSteps, serviceTimeline, stopTimeoutMs, type Step } from '../src/shutdown.ts';
import { readDocument, section, tableRows } from './support/markdown.ts';

const nothing = async () => undefined;
const reliability = readDocument('docs/reliability.md');

function rowsOf(steps: Step[]): string[][] {
  return steps.map(({ name, timeoutMs }) => [name, timeoutMs === undefined ? '-' : `${timeoutMs} ms`]);
}

test('docs/reliability.md lists each step of a stop with its time limit, in order (rule 92)', () => {
  const close = { close: nothing };
  const service = { app: Fastify(), stopCleanup: () => undefined, recordStop: nothing, traces: close, listener: close, pool: close };
  expect(tableRows(section(reliability, '### Steps of a process'))).toEqual(rowsOf(processTimeline({}, Promise.resolve())));
  expect(tableRows(section(reliability, '### Steps of a service'))).toEqual(rowsOf(serviceTimeline(service)));
  expect(section(reliability, '## Stopping')).toContain(`take ${stopTimeoutMs / 1_000} seconds at most`);
});

test('a step begins when the one before has ended, and not after one that failed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const running = runSteps([
    { name: 'waits', run: () => (begun.push('waits'), promise) },
    { name: 'fails', run: () => (begun.push('fails'), Promise.reject(new Error('broken'))) },
    { name: 'never', run: () => begun.push('never') },
  ]);
  expect(begun).toEqual(['waits']);
  resolve();
  await expect(running).rejects.toThrow('broken');
  expect(begun).toEqual(['waits', 'fails']);
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
