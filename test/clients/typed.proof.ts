/** Clients that other people's generators make of the document with types compile. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';
import { hostileTypes, typedContract } from '../support/typed-documents.ts';
import { folder, runOwnTool, runTool } from './tools.ts';

const service = useService({ PUBLIC_URL: 'https://entities.example.org' });
const document = 'generated/typed/openapi.json';

beforeAll(async () => {
  for (const [name, type] of Object.entries(hostileTypes)) await declareType(service(), name, type);
  const cookie = await service().openSession((await service().createUser('ada')).id);
  await rm(join(folder, 'generated/typed'), { recursive: true, force: true });
  await mkdir(join(folder, 'generated/typed'), { recursive: true });
  await writeFile(join(folder, 'generated/.gitignore'), '*');
  await writeFile(join(folder, document), (await typedContract(service(), { cookie }, '*')).text);
});

test('of orval, swagger-typescript-api and openapi-client-axios under strict rules', async () => {
  await runTool('orval', '--input', document, '--output', 'generated/typed/orval.ts', '--client', 'fetch');
  await runTool('swagger-typescript-api', 'generate', '-p', document, '-o', 'generated/typed', '-n', 'swagger-typescript-api.ts');
  await writeFile(join(folder, 'generated/typed/openapi-client-axios.d.ts'), await runTool('typegen', document));
  const options = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--target',
    'es2024',
    '--lib',
    'es2024,dom,dom.iterable',
    '--module',
    'esnext',
  ];
  const files = ['orval.ts', 'swagger-typescript-api.ts', 'openapi-client-axios.d.ts'].map((name) => `generated/typed/${name}`);
  expect(await runOwnTool('tsc', ...options, '--moduleResolution', 'bundler', ...files)).toBe('');
});
