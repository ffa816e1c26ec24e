/** The document with types is good for tools: Redocly finds no fault. Generators make code of it in typed-documents.long.test.ts. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';
import { hostileTypes, typedContract } from '../support/typed-documents.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = join(import.meta.dirname, '../..');
const service = useService({ PUBLIC_URL: 'https://entities.example.org' });
const run = promisify(execFile);
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-typed-'));
  for (const [name, document] of Object.entries(hostileTypes)) await declareType(service(), name, document);
  const cookie = await service().openSession((await service().createUser('ada')).id);
  const { status, text } = await typedContract(service(), { cookie }, '*');
  expect(status).toBe(200);
  await writeFile(join(directory, 'openapi.json'), text);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('Redocly accepts it under the rules of openapi.yaml', async () => {
  // `/rest/entity/{name}/query` and `/rest/entity/customer/{key}` are both a path of `/rest/entity/customer/query`, which stands there by itself.
  const rules = { 'no-ambiguous-paths': 'off', 'operation-2xx-response': 'off' };
  await writeFile(join(directory, '.redocly.yaml'), JSON.stringify({ extends: ['recommended-strict'], rules }));
  const options = ['lint', 'openapi.json', '--config', '.redocly.yaml', '--format', 'json'];
  const redocly = join(root, 'node_modules/.bin/redocly');
  const { stdout } = await run(redocly, options, { cwd: directory, env: { ...process.env, REDOCLY_TELEMETRY: 'off' } }).catch(
    (error: { stdout: string }) => error,
  );
  const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string; location: { pointer: string }[] }[] };
  expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`)).toEqual([]);
});
