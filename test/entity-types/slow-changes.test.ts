/** While the service starts, a change of a type that takes long has lines in the log, and others have none. */
import { beforeEach, afterEach, expect, test, vi } from 'vitest';
import { logSlowChange } from '../../src/entity-types/slow-changes.ts';

let lines: { line: object; text: string | undefined }[];
const log = { info: (line: object, text?: string) => void lines.push({ line, text }) };

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
});
afterEach(() => void vi.useRealTimers());

test('a change of less than two seconds has no line, also when it fails', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const change = logSlowChange(log, 'note', () => promise);
  vi.advanceTimersByTime(1_999);
  resolve('applied');
  expect(await change).toBe('applied');
  await expect(logSlowChange(log, 'note', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([]);
});

test('a longer one is logged after two seconds and every ten seconds with how far it is, and when it has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let report: (done: number) => void = () => undefined;
  const change = logSlowChange(log, 'note', ({ onProgress }) => {
    report = (done) => onProgress?.({ name: 'note', phase: 'rows', done, total: 100 });
    return promise;
  });
  vi.advanceTimersByTime(2_000);
  report(40);
  vi.advanceTimersByTime(9_999);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1);
  resolve('applied');
  await change;
  vi.advanceTimersByTime(60_000);
  const text = 'the type is not in force yet';
  expect(lines).toEqual([
    { line: { event: 'type.applying', type: 'note', durationMs: 2_000 }, text },
    { line: { event: 'type.applying', type: 'note', durationMs: 12_000, phase: 'rows', done: 40, total: 100 }, text },
    { line: { event: 'type.applied', type: 'note', durationMs: 12_000 }, text: undefined },
  ]);
});

test('a wait for another process is said', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const change = logSlowChange(log, 'note', ({ onWait }) => {
    onWait?.('note');
    return promise;
  });
  vi.advanceTimersByTime(2_000);
  expect(lines[0]?.text).toBe('another process builds the type');
  resolve('applied');
  await change;
});
