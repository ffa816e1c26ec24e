/**
 * The tour of the documentation through Prism, which compares each request and each answer with the service's `/openapi.json`. With
 * `--errors` it refuses a request, or replaces an answer, that the document does not allow.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runDocument } from '../support/document-runner.ts';
import { fixedPort } from '../support/fixed-port.ts';
import { readDocument } from '../support/markdown.ts';
import { commandOf, folder } from './tools.ts';

const port = await fixedPort();

/** Starts Prism in front of the service at `upstream`. Returns a function that gives its log so far. */
async function startPrism(upstream: string, document: string): Promise<() => string> {
  const prism = spawn(commandOf('prism'), ['proxy', document, upstream, '--errors', '--port', String(port)], { cwd: folder });
  onTestFinished(async () => {
    prism.kill();
    await once(prism, 'close');
  });
  let log = '';
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  prism.on('close', () => reject(new Error(log)));
  for (const stream of [prism.stdout, prism.stderr]) {
    stream.on('data', (data: Buffer) => {
      log += data.toString();
      if (log.includes('is listening')) resolve();
    });
  }
  await listening;
  return () => log;
}

test('the tour runs through Prism without a violation; a request that the contract does not allow is one', async () => {
  // Prism rounds this number before it forwards the request, so the service cannot refuse it.
  const rounded = /^```console\n\$ [^`]*9007199254740993[^`]*```$/m;
  const tour = readDocument('docs/tour.md');
  expect(tour).toMatch(rounded);
  let log = () => '';
  await runDocument(tour.replace(rounded, ''), {
    port,
    start: async (service, cwd) => {
      const document = join(cwd, 'openapi.json');
      await writeFile(document, await (await fetch(`${service}/openapi.json`)).text());
      log = await startPrism(service, document);
    },
  });
  expect(log().match(/The upstream call/g)?.length).toBeGreaterThan(12);
  // The contract has no operation for its own document, from which the tour makes types.
  const refusals = log()
    .split('\n')
    .filter((line) => /violation|error|warn/i.test(line));
  expect(refusals.filter((line) => !line.includes('get /openapi.json '))).toEqual([]);

  const refused = await fetch(`http://localhost:${port}/rest/entity/customer/0x10`, { headers: { 'x-api-key': 'any' } });
  expect(await refused.json()).toMatchObject({ type: expect.stringContaining('stoplight.io/prism') });
  await expect.poll(log).toMatch(/violation|error/i);
});
