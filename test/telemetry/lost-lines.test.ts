/** The service on a standard output that cannot be written: a full disk, and a reader that has ended. */
import { describe, expect, test } from 'vitest';
import { createDatabaseUntilDone } from '../support/database.ts';
import { metricsToken, scrape } from '../support/metrics.ts';
import { expectStopped, npmStart } from '../support/start.ts';

/** Without npm, which writes to standard output itself. */
const startWith = (redirection: string) => [
  'bash',
  '-c',
  `exec "$0" -r ./scripts/bootstrap.cjs src/main.ts ${redirection}`,
  process.execPath,
];

describe.each([
  ['a full disk', 'ENOSPC', '> /dev/full'],
  ['a reader that has ended', 'EPIPE', '> >(true)'],
])('with %s for its log the service', (_name, code, redirection) => {
  test('goes on, counts the lost lines, and reports the first loss', async () => {
    const settings = { DATABASE_URL: await createDatabaseUntilDone(), METRICS_TOKEN: metricsToken };
    const service = await npmStart(settings, { command: startWith(redirection) });
    await service.ready;
    await expect.poll(async () => (await scrape(service.url)).value('entity_service_log_lines_lost_total')).toBeGreaterThan(3);
    const lines = service.told().match(/^entity-service: lines of the log are lost, .*$/gm);
    expect(lines).toEqual([expect.stringContaining(`because standard output cannot be written: ${code}: `)]);
    service.signalParent('SIGTERM');
    await expectStopped(service);
  });
});

test.each([
  ['1', ['SIGKILL']],
  // The last line of the primary process may still fit into the pipe.
  ['2', ['SIGKILL', 0]],
])('with a reader that has stopped for its log the service still ends, with WORKERS=%s (rule 92)', async (workers, ends) => {
  const settings = { DATABASE_URL: await createDatabaseUntilDone(), RATE_LIMIT: 'off', WORKERS: workers };
  const service = await npmStart(settings, { command: startWith('> >(exec sleep 60 >&- 2>&-)') });
  await service.ready;
  // The lines of so many requests do not fit into a pipe.
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => fetch(`${service.url}/auth`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  service.signalParent('SIGTERM');
  const { code, signal } = await service.ended;
  expect(ends).toContain(signal ?? code);
  expect(service.told()).toContain('the last lines of the log are lost, because the reader of standard output has stopped');
  expect(service.told()).not.toMatch(/not everything stopped|stopping failed/);
});

test('with workers that cannot write their log, all of them serve, and one scrape has the lines that each has lost', async () => {
  const settings = { DATABASE_URL: await createDatabaseUntilDone(), METRICS_TOKEN: metricsToken, WORKERS: '2' };
  const service = await npmStart(settings, { command: startWith('> /dev/full') });
  await service.ready;
  await expect.poll(async () => (await scrape(service.url)).value('entity_service_log_lines_lost_total')).toBeGreaterThan(6);
  expect(service.told()).not.toContain('worker');
  service.signalParent('SIGTERM');
  await expectStopped(service);
});
