import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const workers = join(import.meta.dirname, '../src/workers.ts');

/** A primary that sends messages to a killed worker before it has received the exit event. The worker only waits. */
const primary = `
  import cluster from 'node:cluster';
  import { readFileSync } from 'node:fs';
  import { startWorkers } from ${JSON.stringify(workers)};
  if (cluster.isWorker) setInterval(() => {}, 1_000);
  else {
    startWorkers(1, 'postgres://nowhere', () => {}).ready.catch(() => {});
    const [worker] = Object.values(cluster.workers);
    worker.once('online', () => {
      process.kill(worker.process.pid, 'SIGKILL');
      while (!readFileSync('/proc/' + worker.process.pid + '/stat', 'utf8').includes(') Z ')) {}
      for (let n = 0; n < 10; n++) worker.send({ n });
      worker.once('exit', () => process.exit(0));
    });
  }
`;

/** A primary that can start no worker, because their working directory does not exist. */
const primaryWithoutWorkers = `
  import cluster from 'node:cluster';
  import { startWorkers } from ${JSON.stringify(workers)};
  cluster.setupPrimary({ cwd: '/nowhere' });
  const started = startWorkers(2, 'postgres://nowhere', () => {});
  started.ready.catch(async (error) => {
    console.log(error.message);
    await started.stopAll();
    console.log('stopped');
    process.exit(0);
  });
  setInterval(() => {}, 1_000);
`;

/** A primary that must stop before it detects that its workers cannot be started. */
const primaryStoppedAtOnce = `
  import cluster from 'node:cluster';
  import { startWorkers } from ${JSON.stringify(workers)};
  cluster.setupPrimary({ cwd: '/nowhere' });
  const started = startWorkers(2, 'postgres://nowhere', () => {});
  await started.stopAll();
  console.log('stopped');
  process.exit(0);
`;

/** A primary whose worker ends and whose next worker cannot be started. The one after that can. */
const primaryForATime = `
  import cluster from 'node:cluster';
  import { createServer } from 'node:http';
  import { startWorkers } from ${JSON.stringify(workers)};
  if (cluster.isWorker) createServer().listen(0, '127.0.0.1');
  else {
    const started = startWorkers(1, 'postgres://nowhere', ({ event, worker, reason = '' }) => {
      console.log(event, typeof worker, reason.replace(/\\d+/, 'N'));
      cluster.setupPrimary({ cwd: reason.startsWith('a worker could not') ? '.' : '/nowhere' });
    });
    await started.ready;
    cluster.once('listening', async () => {
      console.log('listens again');
      await started.stopAll();
      process.exit(0);
    });
    Object.values(cluster.workers)[0].process.kill('SIGKILL');
  }
`;

/** A primary that is killed. Its worker then reports that it has stopped listening, before it detects the kill. */
const killedPrimary = `
  import cluster from 'node:cluster';
  import { waitForPrimary } from ${JSON.stringify(workers)};
  if (cluster.isPrimary) cluster.fork();
  else {
    const primary = process.ppid;
    process.kill(primary, 'SIGKILL');
    while (process.ppid === primary) {}
    process.on('exit', (code) => console.log('the worker ended with ' + code));
    void waitForPrimary();
  }
`;

async function run(program: string): Promise<{ code: number | null; lines: string[]; errors: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-workers-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'primary.mjs');
  await writeFile(file, program);
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, lines: output.split('\n').filter(Boolean), errors };
}

test.skipIf(!existsSync('/proc/self/stat'))('a worker that dies while the primary sends it messages does not end the primary', async () => {
  expect(await run(primary)).toEqual({ code: 0, lines: [], errors: '' });
});

test('a worker whose primary has just died ends without an error when it reports that it has stopped listening', async () => {
  expect(await run(killedPrimary)).toEqual({ code: null, lines: ['the worker ended with 0'], errors: '' });
});

test('a worker that cannot be started ends the start with the reason, and the other workers stop', async () => {
  const reason = expect.stringMatching(/^a worker could not be started: spawn .* ENOENT$/);
  expect(await run(primaryWithoutWorkers)).toEqual({ code: 0, lines: [reason, 'stopped'], errors: '' });
});

test('a stop does not wait for workers that could not be started', async () => {
  expect(await run(primaryStoppedAtOnce)).toEqual({ code: 0, lines: ['stopped'], errors: '' });
});

test('if the replacement of an ended worker cannot be started, that is reported and tried again', async () => {
  expect(await run(primaryForATime)).toEqual({
    code: 0,
    lines: [
      'worker.lost number worker N ended with SIGKILL',
      expect.stringMatching(/^worker.lost undefined a worker could not be started: /),
      'worker.replaced number ',
      'listens again',
    ],
    errors: '',
  });
});
