/** The ways of stopping that matter most. `stop.long.test.ts` has the others. */
import { existsSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { isAlive, serverPid } from '../support/embedded.ts';
import { primaryOf } from '../support/start.ts';
import { StopTrial, terminate } from '../support/stop.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });
const patient = { interval: 5, timeout: 20_000 };

describe.skipIf(!existsSync('/proc/self/stat'))('the embedded PostgreSQL stops', () => {
  const trial = new StopTrial();

  test.each(['1', '2'])('at SIGTERM to the process group, with WORKERS=%s (rule 92)', async (WORKERS) => {
    const service = await trial.ready({ WORKERS });
    service.signal('SIGTERM');
    await trial.expectGone(service, 'SIGTERM');
    const started = { event: 'service.start', version: expect.any(String), workers: Number(WORKERS) };
    expect(service.log()).toContainEqual(expect.objectContaining(started));
  });

  test('at SIGTERM while it starts', async () => {
    const service = await trial.start();
    await expect.poll(() => serverPid(trial.dataDir), patient).toBeDefined();
    await terminate(service);
    await trial.expectGone(service, 'SIGTERM');
  });

  test('with the next service, if the primary process was killed with -9', async () => {
    const killed = await trial.ready();
    const server = await serverPid(trial.dataDir);
    process.kill(await primaryOf(killed), 'SIGKILL');
    await killed.ended;
    expect(await isAlive(server)).toBe(true);

    const next = await trial.ready();
    expect(await serverPid(trial.dataDir)).toBe(server);
    await terminate(next);
    await trial.expectGone(next, 'SIGTERM');
  });
});
