import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LogOutput } from '../../src/telemetry/log-output.ts';
import { scratchDirectory } from '../support/scratch.ts';

test('lines beyond 16 MiB that wait for standard output are dropped and counted, and the others are written in order', async () => {
  const file = join(await scratchDirectory('log'), 'log');
  const handle = await open(file, 'w');
  onTestFinished(() => handle.close());
  const losses: string[] = [];
  const output = new LogOutput(handle.fd, ({ message }) => losses.push(message));
  const lineOf = (n: number) => `${String(n).padStart(2, '0')}${'x'.repeat(1_048_573)}\n`;
  // The first line is being written, and 16 wait.
  for (let n = 1; n <= 20; n++) output.write(lineOf(n));
  expect([output.lost, losses]).toEqual([3, ['it is not read fast enough']]);
  await output.flush();
  await output.flush();
  const written = (await readFile(file, 'utf8')).split('\n').map((line) => Number(line.slice(0, 2)));
  expect(written).toEqual([...Array.from({ length: 17 }, (_, index) => index + 1), 0]);
});
