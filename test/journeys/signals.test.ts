/** Signals that Node.js would act on: in production they change nothing. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabaseUntilDone } from '../support/database.ts';
import { projectDirectory } from '../support/document-runner.ts';
import { newDataDir } from '../support/embedded.ts';
import { production } from '../support/first-password.ts';
import { expectStopped, loginEnvironment, npmStart, primaryOf, project, workersOf } from '../support/start.ts';

test('in production, also by .env, neither SIGUSR1 nor SIGUSR2 opens a debugger or ends a process; each is logged, and SIGTERM stops all', async () => {
  const DATABASE_URL = await createDatabaseUntilDone();
  const cwd = await projectDirectory();
  await writeFile(join(cwd, '.env'), 'NODE_ENV=production\n');
  const { NODE_ENV: _, ...settings } = production;
  const service = await npmStart({ ...settings, DATABASE_URL, DATA_DIR: await newDataDir(), WORKERS: '2' }, { cwd });
  await service.ready;
  const pids = [await primaryOf(service), ...(await workersOf(service))];
  expect(pids).toHaveLength(3);
  const sent = pids.flatMap((pid) => (['SIGUSR1', 'SIGUSR2'] as const).map((signal) => ({ signal, process: pid })));
  for (const { signal, process: pid } of sent) process.kill(pid, signal);
  const ignored = () => service.log().filter(({ event }) => event === 'signal.ignored');
  await expect.poll(() => ignored().length, { timeout: 10_000 }).toBe(sent.length);
  expect(ignored()).toEqual(expect.arrayContaining(sent.map((each) => expect.objectContaining({ level: 'warn', ...each }))));
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  expect(service.told()).not.toContain('Debugger listening');
  service.signalParent('SIGTERM');
  await expectStopped(service);
});

test('the command of the package passes both signals on to the Node.js that came along', async () => {
  const DATABASE_URL = await createDatabaseUntilDone();
  const environment = loginEnvironment({ ...production, DATABASE_URL, DATA_DIR: await newDataDir(), PORT: '0' });
  const child = spawn('node', ['bin/entity-service.cjs'], { cwd: project, env: environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  await expect.poll(() => output, { timeout: 30_000 }).toContain('Press Ctrl-C to stop.');
  child.kill('SIGUSR1');
  child.kill('SIGUSR2');
  await expect.poll(() => output.match(/"signal\.ignored"/g), { timeout: 10_000 }).toHaveLength(2);
  expect(output).not.toContain('Debugger listening');
  child.kill('SIGTERM');
  await expect.poll(() => child.exitCode, { timeout: 15_000 }).toBe(0);
});
