/** `npm run bench -- types`, briefly. */
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

test('measures creates and updates of each type, and all are answered 2xx', async () => {
  const options = ['types', '--seconds', '0.2', '--rounds', '1', '--connections', '4', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/main.ts', ...options], {
    env: { ...process.env, DATABASE_URL: server.url },
  });
  const { rates } = JSON.parse(stdout) as { rates: { operation: string; type: string; perSecond: number; cost: number }[] };
  expect(rates).toHaveLength(12);
  for (const { perSecond, cost } of rates) expect([perSecond > 0, cost > 0]).toEqual([true, true]);
  expect(rates.filter(({ type }) => type === 'none').map(({ cost }) => cost)).toEqual([1, 1, 1]);
});
