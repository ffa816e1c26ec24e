/**
 * Makes everything in `generated/` from `openapi.yaml`: `npm run generate`. With `-- --check` it writes nothing and fails when a file on
 * disk differs from what it would write.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { operationsOf, readContract, type ContractDocument } from '../src/api/contract.ts';

const root = new URL('../', import.meta.url);
const banner = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n';

async function generateTypes(): Promise<string> {
  return banner + astToString(await openapiTypescript(new URL('openapi.yaml', root)));
}

/** The route table: what each operation is called, where it is, and whether the binder authenticates its callers. */
function generateOperations(document: ContractDocument): string {
  const entries = operationsOf(document).map(({ operationId, method, path, tag, security }) => {
    const open = security.length === 0 || security.some((alternative) => Object.keys(alternative).length === 0);
    const caller = open ? 'anyone' : 'principal';
    return `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}', tag: '${tag}', caller: '${caller}' },\n`;
  });
  return `${banner}export const operations = {\n${entries.join('')}} as const;\n`;
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const files = new Map([
  ['generated/api.ts', await generateTypes()],
  ['generated/operations.ts', generateOperations(readContract().document)],
]);

for (const [file, text] of files) {
  const url = new URL(file, root);
  if (!values.check) {
    await writeFile(url, text);
    console.log(`wrote ${file}`);
  } else if ((await readFile(url, 'utf8').catch(() => '')) !== text) {
    console.error(`${file} is not what openapi.yaml makes; run "npm run generate" and commit the result`);
    process.exitCode = 1;
  }
}
