/** The registry of periodic work: one run of a job at a time, outcomes, lines of the log, and the stop. */
import Fastify from 'fastify';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Background, type JobRun } from '../../src/background/background.ts';
import { loggerOptions } from '../../src/telemetry/logging.ts';

interface Line {
  level: string;
  event: string;
  job: string;
  outcome: string;
  failedForMs?: number;
  err?: { message: string; stack?: string };
}

let lines: Line[];
let background: Background;

beforeEach(() => {
  vi.useFakeTimers();
  // The lines of the test before are of another outage.
  vi.advanceTimersByTime(600_000);
  lines = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line) as Line) };
  const { log } = Fastify({ logger: { ...loggerOptions({ logLevel: 'info' }), stream } });
  background = new Background(() => log);
  onTestFinished(async () => {
    await background.stop();
    vi.useRealTimers();
  });
});

const countsOf = (job: string) =>
  Object.fromEntries(background.counts.filter(({ labels }) => labels.job_name === job).map(({ labels, value }) => [labels.outcome, value]));
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A job whose runs end when the test says so. */
function slowTask() {
  const runs: { end: () => void; fail: (error: Error) => void; signal: AbortSignal }[] = [];
  const run: JobRun = (signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    runs.push({ end: resolve, fail: reject, signal });
    return promise;
  };
  return { run, runs };
}

describe('a job', () => {
  test('begins after its interval, or at once if it says so, and then after each interval', async () => {
    const begun: string[] = [];
    background.every('later', 1_000, async () => void begun.push('later'));
    background.every('at once', 1_000, async () => void begun.push('at once'), { runsAtOnce: true });
    await vi.advanceTimersByTimeAsync(999);
    expect(begun).toEqual(['at once']);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['at once', 'later', 'at once']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(countsOf('later')).toEqual({ ok: 3, failed: 0, skipped: 0 });
    expect(countsOf('at once')).toEqual({ ok: 4, failed: 0, skipped: 0 });
  });

  test('never has two runs at once: an interval that ends during a run is skipped, and other jobs go on', async () => {
    const { run, runs } = slowTask();
    let others = 0;
    background.every('slow', 1_000, run);
    background.every('other', 1_000, async () => void others++);
    await vi.advanceTimersByTimeAsync(3_500);
    expect([runs.length, others]).toEqual([1, 3]);
    expect(countsOf('slow')).toEqual({ ok: 0, failed: 0, skipped: 2 });
    runs[0]?.end();
    await vi.advanceTimersByTimeAsync(500);
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(countsOf('slow')).toEqual({ ok: 2, failed: 0, skipped: 2 });
  });

  test('that runs in turn waits for the one before, also after a failure', async () => {
    const [first, second] = [slowTask(), slowTask()];
    background.every('first', 1_000, first.run, { runsInTurn: true });
    background.every('second', 1_000, second.run, { runsInTurn: true });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([first.runs.length, second.runs.length]).toEqual([1, 0]);
    first.runs[0]?.fail(new Error('broken'));
    await vi.advanceTimersByTimeAsync(0);
    expect([first.runs.length, second.runs.length]).toEqual([1, 1]);
    second.runs[0]?.end();
  });

  test('has a name of its own', () => {
    background.every('trash', 1_000, async () => undefined);
    expect(() => background.every('trash', 1_000, async () => undefined)).toThrow('two jobs are called trash');
  });
});

describe('an outcome', () => {
  test('that is a failure is counted, and stops neither the job nor the others', async () => {
    let runs = 0;
    background.every('failing', 1_000, async () => {
      runs++;
      if (runs <= 2) throw new Error('broken');
    });
    background.every('other', 1_000, async () => undefined);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(countsOf('failing')).toEqual({ ok: 1, failed: 2, skipped: 0 });
    expect(countsOf('other')).toEqual({ ok: 3, failed: 0, skipped: 0 });
    expect(lines).toMatchObject([
      { level: 'warn', event: 'housekeeping', job: 'failing', outcome: 'failed', err: { message: 'broken', stack: expect.any(String) } },
      { level: 'info', event: 'housekeeping', job: 'failing', outcome: 'ok', failedForMs: 2_000 },
    ]);
  });

  test('with a report has one line, and without one none', async () => {
    let runs = 0;
    background.every('trash', 1_000, async () => (runs++ === 1 ? { deleted: 7 } : undefined));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(lines).toMatchObject([{ level: 'info', event: 'housekeeping', job: 'trash', outcome: 'ok', deleted: 7, durationMs: 0 }]);
  });

  test('has the event and the level of its job', async () => {
    const fail = async () => {
      throw new Error('the disk is full');
    };
    background.every('backup', 1_000, fail, { event: 'backup', failureLevel: 'error' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines).toMatchObject([{ level: 'error', event: 'backup', job: 'backup', outcome: 'failed' }]);
  });

  test('that fails for long has a line for each reason and each five minutes, and one stack for each reason', async () => {
    let reason = 'first';
    background.every('failing', 1_000, async () => {
      throw new Error(reason);
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines.map(({ err }) => [err?.message, err?.stack !== undefined])).toEqual([['first', true]]);
    reason = 'second';
    await vi.advanceTimersByTimeAsync(300_000);
    expect(lines.map(({ err }) => [err?.message, err?.stack !== undefined])).toEqual([
      ['first', true],
      ['second', true],
    ]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines.slice(2).map(({ err }) => [err?.message, err?.stack !== undefined])).toEqual([['second', false]]);
    expect(countsOf('failing')).toEqual({ ok: 0, failed: 311, skipped: 0 });
  });

  test('an outage of the database has one stack, however many jobs it makes fail and however often', async () => {
    for (const name of ['tick', 'statistics', 'trash']) {
      background.every(name, 1_000, async () => {
        throw refused();
      });
    }
    await vi.advanceTimersByTimeAsync(700_000);
    expect(lines.map(({ job, err }) => [job, err?.stack !== undefined])).toEqual([
      ['tick', true],
      ...['statistics', 'trash', 'tick', 'statistics', 'trash', 'tick', 'statistics', 'trash'].map((job) => [job, false]),
    ]);
  });
});

describe('a stop', () => {
  test('begins no further run, and waits for those under way, which its signal tells to end', async () => {
    const { run, runs } = slowTask();
    background.every('slow', 1_000, run);
    background.every('waiting', 1_000, run, { runsInTurn: true });
    background.every('behind it', 1_000, run, { runsInTurn: true });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    let stopped = false;
    const stopping = background.stop().then(() => (stopped = true));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([runs.length, stopped, ...runs.map(({ signal }) => signal.aborted)]).toEqual([2, false, true, true]);
    runs[0]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    runs[1]?.fail(new Error('cancelled'));
    await stopping;
    expect(runs).toHaveLength(2);
    // A run that was told to end is no failure.
    expect(countsOf('waiting')).toEqual({ ok: 0, failed: 0, skipped: 0 });
    expect(lines).toEqual([]);
  });
});
