/** Clients that other people's generators make of `/openapi.json` compile and work, without a change to the document or to their output. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fixedPort } from '../support/fixed-port.ts';
import { password, useService } from '../support/service.ts';
import { folder, runOwnTool, runProgram, runTool } from './tools.ts';

const port = await fixedPort();
const service = useService({ PORT: String(port), PUBLIC_URL: `http://localhost:${port}` });
const document = 'generated/openapi.json';

beforeAll(async () => {
  await service().createUser('ada');
  await rm(join(folder, 'generated'), { recursive: true, force: true });
  await mkdir(join(folder, 'generated'));
  await writeFile(join(folder, 'generated/.gitignore'), '*');
  await writeFile(join(folder, document), (await service().call('GET', '/openapi.json')).text);
});

test('the generators accept the document, and their output compiles under strict rules', async () => {
  await runTool('orval', '--config', './orval.config.mjs');
  await runTool('swagger-typescript-api', 'generate', '-p', document, '-o', 'generated', '-n', 'swagger-typescript-api.ts');
  await runTool('openapi-zod-client', document, '-o', 'generated/openapi-zod-client.ts');
  await writeFile(join(folder, 'generated/openapi-client-axios.d.ts'), await runTool('typegen', document));
  await runOwnTool('openapi-typescript', document, '-o', 'generated/openapi-fetch.ts');
  expect(await runOwnTool('tsc', '-p', 'programs')).toBe('');
});

describe('a client', () => {
  test.each(['orval', 'swagger-typescript-api', 'openapi-zod-client', 'openapi-client-axios', 'openapi-fetch'])(
    'of %s signs in, creates, reads, updates and deletes an entity',
    async (name) => {
      const printed = await runProgram(`generated/js/programs/${name}.js`, { ADA_PASSWORD: password });
      expect(JSON.parse(printed)).toEqual([1, { city: 'London' }, 2, 404]);
    },
  );
});
