/** What a user's long patches leave to other users. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Admission } from '../../../src/admission/admission.ts';

describe('after a heavy patch', () => {
  const ada = { flow: 'ada', caller: { hasLeft: false } };
  const bob = { ...ada, flow: 'bob' };

  /** The heavy writes that have begun, by name, while the clock stands still. */
  function openQueues() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const admission = new Admission();
    const begun: string[] = [];
    const job = (name: string, ms: number) => async () => {
      begun.push(name);
      vi.advanceTimersByTime(ms);
      return name;
    };
    return { admission, begun, job };
  }

  test('its answer is not held back, and the next heavy write of the user waits for twice as long (rule 70)', async () => {
    const { admission, begun, job } = openQueues();
    expect(await admission.run('heavy-patch', ada, job('first', 40))).toBe('first');
    const next = admission.run('heavy-write', ada, job('next', 0));
    expect(await admission.run('heavy-patch', bob, job('of bob', 40))).toBe('of bob');
    await vi.advanceTimersByTimeAsync(39);
    expect(begun).toEqual(['first', 'of bob']);
    await vi.advanceTimersByTimeAsync(1);
    expect(await next).toBe('next');
  });

  test('of ten milliseconds, and after another heavy write, nothing waits; a wait ends after 200 ms (rule 70)', async () => {
    const { admission, begun, job } = openQueues();
    await admission.run('heavy-patch', ada, job('short', 10));
    await admission.run('heavy-write', ada, job('no patch', 500));
    await admission.run('heavy-patch', ada, job('long', 500));
    const last = admission.run('heavy-patch', ada, job('last', 0));
    await vi.advanceTimersByTimeAsync(199);
    expect(begun).toEqual(['short', 'no patch', 'long']);
    await vi.advanceTimersByTimeAsync(1);
    expect(await last).toBe('last');
  });

  test('that fails, its error is thrown at once, and the user may go on (rule 70)', async () => {
    const { admission, job } = openQueues();
    const failing = admission.run('heavy-patch', ada, () => Promise.reject(new Error('failed')));
    await expect(failing).rejects.toThrow('failed');
    expect(await admission.run('heavy-patch', ada, job('next', 0))).toBe('next');
  });
});

test('one user has three of the four places for heavy reads, and another user is served at once (rule 70)', async () => {
  const admission = new Admission();
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = (flow: string) =>
    admission.run('heavy-read', { flow }, async () => {
      begun.push(flow);
      await promise;
    });
  const reads = [read('ada'), read('ada'), read('ada'), read('ada'), read('bob')];
  await vi.waitFor(() => expect(begun.toSorted()).toEqual(['ada', 'ada', 'ada', 'bob']));
  resolve();
  await Promise.all(reads);
  expect(begun).toHaveLength(5);
});
