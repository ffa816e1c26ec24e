/** `npm run bench -- rights`, briefly. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startThrowAwayServer } from '../support/global-setup.ts';

/** A separate server: the bench creates a database. */
let server: Awaited<ReturnType<typeof startThrowAwayServer>>;
beforeAll(async () => {
  server = await startThrowAwayServer();
});
afterAll(() => server.stop());

test('measures each operation under each rule, and all are answered 2xx', async () => {
  const options = ['rights', '--orders', '2000', '--seconds', '0.2', '--rounds', '1', '--connections', '4', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/main.ts', ...options], {
    env: { ...process.env, DATABASE_URL: server.url },
  });
  const { rates } = JSON.parse(stdout) as { rates: { operation: string; rule: string; perSecond: number; cost: number }[] };
  expect(rates).toHaveLength(30);
  for (const { perSecond, cost } of rates) expect([perSecond > 0, cost > 0]).toEqual([true, true]);
  expect(rates.filter(({ rule }) => rule === 'none').map(({ cost }) => cost)).toEqual([1, 1, 1, 1, 1]);
});
