import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const program = `
  import Fastify from 'fastify';
  import { loggerOptions } from './src/telemetry/logging.ts';
  const { log } = Fastify({ logger: loggerOptions({ logLevel: 'info' }) });
  let n = 0;
  const more = () => {
    for (let line = 0; line < 100; line++) log.info({ n: n++ });
    if (n < 2_000) setImmediate(more);
    else process.exit(0);
  };
  more();
`;

test('lines are written in batches, and buffered ones are written when the process exits', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  // A batch that is being written at exit may follow the buffered lines.
  const numbers = lines.map((line) => (JSON.parse(line) as { n: number }).n).toSorted((one, other) => one - other);
  expect(numbers).toEqual(Array.from({ length: 2_000 }, (_, n) => n));
});
