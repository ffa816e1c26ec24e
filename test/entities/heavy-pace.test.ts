/** What a user's long patches leave to other users. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Caller } from '../../src/authn/caller.ts';
import { EntityQueues } from '../../src/entities/heavy.ts';
import { HeldBytes } from '../../src/admission/held-bytes.ts';
import type { Permit } from '../../src/rights/permit.ts';

describe('after a heavy patch', () => {
  const permitOf = (userName: string) => ({ userName }) as Permit<'update'>;
  const present = { hasLeft: false } as Caller;

  /** The heavy writes that have begun, by name, while the clock stands still. */
  function openQueues() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const queues = new EntityQueues(new HeldBytes());
    const begun: string[] = [];
    const job = (name: string, ms: number) => async () => {
      begun.push(name);
      vi.advanceTimersByTime(ms);
      return name;
    };
    return { queues, begun, job };
  }

  test('its answer is not held back, and the next heavy write of the user waits for twice as long (rule 70)', async () => {
    const { queues, begun, job } = openQueues();
    expect(await queues.runHeavyPatch(permitOf('ada'), present, job('first', 40))).toBe('first');
    const next = queues.runHeavy(permitOf('ada'), present, job('next', 0));
    expect(await queues.runHeavyPatch(permitOf('bob'), present, job('of bob', 40))).toBe('of bob');
    await vi.advanceTimersByTimeAsync(39);
    expect(begun).toEqual(['first', 'of bob']);
    await vi.advanceTimersByTimeAsync(1);
    expect(await next).toBe('next');
  });

  test('of ten milliseconds, and after another heavy write, nothing waits; a wait ends after 200 ms (rule 70)', async () => {
    const { queues, begun, job } = openQueues();
    await queues.runHeavyPatch(permitOf('ada'), present, job('short', 10));
    await queues.runHeavy(permitOf('ada'), present, job('no patch', 500));
    await queues.runHeavyPatch(permitOf('ada'), present, job('long', 500));
    const last = queues.runHeavyPatch(permitOf('ada'), present, job('last', 0));
    await vi.advanceTimersByTimeAsync(199);
    expect(begun).toEqual(['short', 'no patch', 'long']);
    await vi.advanceTimersByTimeAsync(1);
    expect(await last).toBe('last');
  });

  test('that fails, its error is thrown at once, and the user may go on (rule 70)', async () => {
    const { queues, job } = openQueues();
    const failing = queues.runHeavyPatch(permitOf('ada'), present, () => Promise.reject(new Error('failed')));
    await expect(failing).rejects.toThrow('failed');
    expect(await queues.runHeavyPatch(permitOf('ada'), present, job('next', 0))).toBe('next');
  });
});

test('one user has three of the four places for heavy reads, and another user is served at once (rule 70)', async () => {
  const queues = new EntityQueues(new HeldBytes());
  const present = { hasLeft: false } as Caller;
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = (userName: string) =>
    queues.runHeavyRead({ userName } as Permit<'read'>, present, async () => {
      begun.push(userName);
      await promise;
    });
  const reads = [read('ada'), read('ada'), read('ada'), read('ada'), read('bob')];
  await vi.waitFor(() => expect(begun.toSorted()).toEqual(['ada', 'ada', 'ada', 'bob']));
  resolve();
  await Promise.all(reads);
  expect(begun).toHaveLength(5);
});
