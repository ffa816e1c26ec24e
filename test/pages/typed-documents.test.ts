/** The document with types is good for tools: Redocly finds no fault. Generators make code of it in typed-documents.long.test.ts. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { useTypedDocument } from '../support/typed-documents.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = join(import.meta.dirname, '../..');
const directoryOf = useTypedDocument();
const run = promisify(execFile);

test('Redocly accepts it under the rules of openapi.yaml', async () => {
  // `/rest/entity/{name}/query` and `/rest/entity/customer/{key}` are both a path of `/rest/entity/customer/query`, which stands there by itself.
  const rules = { 'no-ambiguous-paths': 'off', 'operation-2xx-response': 'off' };
  await writeFile(join(directoryOf(), '.redocly.yaml'), JSON.stringify({ extends: ['recommended-strict'], rules }));
  const options = ['lint', 'openapi.json', '--config', '.redocly.yaml', '--format', 'json'];
  const redocly = join(root, 'node_modules/.bin/redocly');
  const { stdout } = await run(redocly, options, { cwd: directoryOf(), env: { ...process.env, REDOCLY_TELEMETRY: 'off' } }).catch(
    (error: { stdout: string }) => error,
  );
  const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string; location: { pointer: string }[] }[] };
  expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`)).toEqual([]);
});
