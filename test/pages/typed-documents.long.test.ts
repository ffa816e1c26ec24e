/** Generators make code of the document with types that compiles. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';
import { useTypedDocument } from '../support/typed-documents.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = join(import.meta.dirname, '../..');
const directoryOf = useTypedDocument();
const run = promisify(execFile);

/** Programs that use what generators have made, and are wrong where an error is expected. */
const programs = {
  'openapi-typescript': `
    import type { components, operations } from './types.ts';
    type Schemas = components['schemas'];
    export const customer: Schemas['Customer'] = { company: 'A', credit: '1.5', address: { zip: '1' }, lines: [{ count: 1 }] };
    export const query: operations['queryCustomer']['requestBody']['content']['application/json'] = {
      filter: { credit: { $gte: '1' }, $or: [{ city: null }, { address: { geo: { lat: { $lt: 1 } } } }] }, sort: ['-credit'],
    };
    export const page = (answer: operations['listCustomer']['responses']['200']['content']['application/json']): string | undefined =>
      answer.items[0]?.fields.company;
    // @ts-expect-error
    export const wrongFields: Schemas['Customer'] = { company: 1 };
    // @ts-expect-error
    export const wrongFilter: Schemas['CustomerFilter'] = { credit: { $gte: 1 } };
    // @ts-expect-error
    export const wrongSort: Schemas['CustomerSort'] = 'tags';`,
  oazapfts: `
    import { createCustomer, queryCustomer, updateCustomer } from './client.ts';
    export const calls = () => [
      createCustomer({ company: 'A', state: 'open' }),
      updateCustomer('5', { city: null }),
      queryCustomer({ filter: { vip: true, $not: { score: { $in: [1, null] } } }, sort: ['$key'] }),
    ];
    // @ts-expect-error
    export const wrong = () => createCustomer({ city: 'Paris' });`,
};

test('openapi-typescript and oazapfts make code of it that compiles and knows the fields, filters and sorts', async () => {
  const module = (name: string) => join(root, 'node_modules', name);
  await run(process.execPath, [module('openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'types.ts'], { cwd: directoryOf() });
  await run(process.execPath, [module('oazapfts/dist/cli.js'), 'openapi.json', 'client.ts'], { cwd: directoryOf() });
  const files = Object.entries(programs).map(([name, text]) => ({ path: join(directoryOf(), `use-${name}.ts`), text }));
  for (const { path, text } of files) await writeFile(path, text);
  const compiled = ts.createProgram(
    files.map(({ path }) => path),
    {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
      paths: { '@oazapfts/runtime': [module('@oazapfts/runtime')], '@oazapfts/runtime/*': [module('@oazapfts/runtime/*')] },
    },
  );
  const faults = ts.getPreEmitDiagnostics(compiled);
  expect(faults.map(({ file, messageText }) => `${file?.fileName} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual([]);
});
