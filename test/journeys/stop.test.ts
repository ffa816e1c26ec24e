/** The ways of stopping that matter most. `stop.long.test.ts` has the others. */
import { existsSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { serverPid } from '../support/embedded.ts';
import { StopTrial, terminate } from '../support/stop.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });
const patient = { interval: 5, timeout: 20_000 };

describe.skipIf(!existsSync('/proc/self/stat'))('the embedded PostgreSQL stops', () => {
  const trial = new StopTrial();

  test('at SIGTERM to the process group, with two workers (rule 92)', async () => {
    const service = await trial.ready({ WORKERS: '2' });
    service.signal('SIGTERM');
    await trial.expectGone(service, 'SIGTERM');
    const started = { event: 'service.start', version: expect.any(String), workers: 2 };
    expect(service.log()).toContainEqual(expect.objectContaining(started));
  });

  test('at SIGTERM while it starts', async () => {
    const service = await trial.start();
    await expect.poll(() => serverPid(trial.dataDir), patient).toBeDefined();
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM');
  });
});
