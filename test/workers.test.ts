import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const workers = join(import.meta.dirname, '../src/workers.ts');

/** A primary that sends to a worker which has just been killed, before it has heard of that; the worker only waits. */
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

test.skipIf(!existsSync('/proc/self/stat'))('a worker that dies while it is sent something does not take the primary with it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-workers-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'primary.mjs');
  await writeFile(file, primary);
  const run = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [errors, [code]] = await Promise.all([text(run.stderr), once(run, 'exit') as Promise<[number | null]>]);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
});
