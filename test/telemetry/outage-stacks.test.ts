/** An outage has one stack in the log: its first line has it, and the others have the kind of their error. */
import Fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loggerOptions } from '../../src/telemetry/logging.ts';

interface Line {
  event: string;
  err?: { type: string; message: string; code?: string; stack?: string };
}

function openLog(): { log: ReturnType<typeof Fastify>['log']; lines: Line[] } {
  const lines: Line[] = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line) as Line) };
  return { log: Fastify({ logger: { ...loggerOptions({ logLevel: 'info' }), stream } }).log, lines };
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const hasStack = ({ err }: Line) => err?.stack !== undefined;

test('a thousand failed requests, lost connections and lost audit events of an outage have one stack', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(600_000);
  const { log, lines } = openLog();
  for (let n = 0; n < 1_000; n++) {
    log.warn(
      { event: 'outage', code: 'unavailable', err: n % 3 === 0 ? new Error('Connection terminated') : refused() },
      'dependency failed',
    );
    if (n % 10 === 0) log.warn({ event: 'outage', err: refused() }, 'database connection lost');
    if (n % 10 === 1) log.warn({ event: 'audit.lost', err: refused() });
    if (n % 100 === 2) log.warn({ event: 'housekeeping', outcome: 'failed', err: refused() });
    vi.advanceTimersByTime(1_000);
  }
  expect(lines.filter(hasStack)).toEqual([lines[0]]);
  expect(lines[0]?.err).toMatchObject({ type: 'Error', message: 'Connection terminated', stack: expect.stringContaining('outage-stacks') });
  expect(lines.at(-1)?.err).toEqual({ type: 'Error', message: 'Connection terminated' });
  expect(lines[3]?.err).toEqual({ type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' });

  log.error({ event: 'fault', err: new TypeError('a bug') }, 'unhandled error');
  log.error({ event: 'fault', err: new TypeError('a bug') }, 'unhandled error');
  expect(lines.slice(-2).every(hasStack)).toBe(true);
});

test('the next outage has a stack again, after the line of the end or five minutes, and each issuer has outages of its own', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(2_000_000);
  const { log, lines } = openLog();
  const fail = (more = {}) => {
    log.warn({ event: 'outage', err: refused(), ...more }, 'dependency failed');
    return lines.at(-1)?.err?.stack !== undefined;
  };
  expect([fail(), fail(), fail({ issuer: 'corp' }), fail({ issuer: 'corp' })]).toEqual([true, false, true, false]);
  log.info({ event: 'outage.ended', durationMs: 1 }, 'notifications arrive again');
  expect([fail(), fail({ issuer: 'corp' })]).toEqual([true, false]);
  vi.advanceTimersByTime(299_999);
  expect(fail()).toBe(false);
  vi.advanceTimersByTime(300_000);
  expect(fail()).toBe(true);
});

test('an outage does not hide the stack of another dependency or of another kind of error, and each of these has one', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(6_000_000);
  const { log, lines } = openLog();
  const sqlError = (code: string) => Object.assign(new Error('refused'), { name: 'error', severity: 'ERROR', code });
  const failures: [string, object][] = [
    ['the database', { event: 'outage', err: refused() }],
    ['the standby', { event: 'outage', dependency: 'standby', err: refused() }],
    ['the collector of traces', { event: 'outage', dependency: 'traces', err: refused() }],
    ['issuers, at a request', { event: 'outage', code: 'issuer-unavailable', err: refused() }],
    ['an issuer', { event: 'outage', issuer: 'corp', err: refused() }],
    ['the list of breached passwords', { event: 'outage', code: 'unavailable', err: new TypeError('fetch failed') }],
    ['an event that a constraint refuses', { event: 'audit.lost', err: sqlError('23514') }],
  ];
  const shown = () =>
    failures.map(([, line]) => {
      log.warn(line);
      return lines.at(-1)?.err?.stack !== undefined;
    });
  expect(shown()).toEqual(failures.map(() => true));
  expect(shown()).toEqual(failures.map(() => false));

  const housekeeping = (err: Error) => {
    log.warn({ event: 'housekeeping', outcome: 'failed', err });
    return lines.at(-1)?.err?.stack !== undefined;
  };
  expect([housekeeping(refused()), housekeeping(sqlError('2BP01')), housekeeping(new TypeError('a bug'))]).toEqual([false, true, true]);
});

test('fifty reasons of lost audit events have a stack each, and further ones have none', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(20_000_000);
  const { log, lines } = openLog();
  for (let n = 0; n < 60; n++) log.warn({ event: 'audit.lost', err: new Error(`reason ${n}`) });
  expect(lines.map(hasStack)).toEqual([...Array.from({ length: 50 }, () => true), ...Array.from({ length: 10 }, () => false)]);
});
