/**
 * Generates the files of `generated/` that follow from `openapi.yaml`, and the index of the decisions: `npm run generate`. With `-- --check` it writes nothing and fails when a file on
 * disk differs from its output.
 */
import { createClient } from '@hey-api/openapi-ts';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { operationsOf, parseContract, type ContractDocument } from '../../src/contract/contract.ts';
import { problemFacts } from '../../src/problems/errors.ts';
import { readOptions } from '../lib/options.ts';
import { generateDecisionIndex } from './decisions.ts';

const root = new URL('../../', import.meta.url);
const banner = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n';

async function generateTypes(): Promise<string> {
  return banner + astToString(await openapiTypescript(new URL('openapi.yaml', root)));
}

/** The route table: each operation's name, method, path and tag, and whether the binder authenticates its callers. */
function generateOperations(document: ContractDocument): string {
  const entries = operationsOf(document).map(({ operationId, method, path, tag, security }) => {
    const open = security.length === 0 || security.some((alternative) => Object.keys(alternative).length === 0);
    const caller = open ? 'anyone' : 'principal';
    return `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}', tag: '${tag}', caller: '${caller}' },\n`;
  });
  return `${banner}export const operations = {\n${entries.join('')}} as const;\n`;
}

/**
 * The client's types, and a function for each operation. The generator's own runtime is left out. `src/client` replaces it under the names
 * that the functions import, with deadlines, repeats and typed problems.
 */
async function generateClient(): Promise<[file: string, text: string][]> {
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-client-'));
  try {
    await createClient({
      input: fileURLToPath(new URL('openapi.yaml', root)),
      output: { path: directory, module: { extension: '.ts' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', client: false }],
      logs: { level: 'silent', file: false },
    });
    const files = ['types.gen.ts', 'sdk.gen.ts'].map(async (file): Promise<[string, string]> => {
      return [`generated/client/${file}`, overOurRuntime(await readFile(join(directory, file), 'utf8'))];
    });
    return await Promise.all(files);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Inserts the banner and the runtime, and removes the type parameters that only the generator's own runtime uses: whether to throw, and the
 * errors.
 */
function overOurRuntime(text: string): string {
  return text
    .replace(/^\/\/ This file is auto-generated .*\n\n/, banner)
    .replaceAll("'./client/index.ts'", "'../../src/client/operation.ts'")
    .replace(
      /^export type Options<.*?> = Options2<.*?> & \{/m,
      'export type Options<TData extends TDataShape = TDataShape> = Options2<TData> & {',
    )
    .replaceAll('<ThrowOnError extends boolean = false>(', '(')
    .replaceAll(/\bOptions<(\w+), ThrowOnError>/g, 'Options<$1>')
    .replaceAll(/<(\w+Responses|unknown), (?:\w+Errors|unknown), ThrowOnError>/g, '<$1>')
    .replaceAll(/\b\w+Errors, /g, '');
}

/**
 * The catalogue's codes as a type. The contract lists only the codes of operations; a request whose operation is not known gets other
 * codes.
 */
function generateProblemCodes(): string {
  return `${banner}export type ProblemCode =\n${Object.keys(problemFacts)
    .map((code) => `  | '${code}'`)
    .join('\n')};\n`;
}

const usage = `npm run generate -- [options]

  --check  write nothing, and fail if a file differs
  --help   print this
`;

const { values } = readOptions('generate', usage, { check: { type: 'boolean', default: false } });
const document = parseContract();
const files = new Map([
  ['generated/api.ts', await generateTypes()],
  ['generated/operations.ts', generateOperations(document)],
  ['generated/openapi.json', `${JSON.stringify(document, null, 1)}\n`],
  ['generated/client/problem-codes.ts', generateProblemCodes()],
  ...(await generateClient()),
  ['docs/decisions.md', generateDecisionIndex(fileURLToPath(root))],
]);

for (const [file, text] of files) {
  const url = new URL(file, root);
  if (!values.check) {
    await mkdir(new URL('.', url), { recursive: true });
    await writeFile(url, text);
    console.log(`wrote ${file}`);
  } else if ((await readFile(url, 'utf8').catch(() => '')) !== text) {
    console.error(`${file} differs from what is generated; run "npm run generate" and commit the result`);
    process.exitCode = 1;
  }
}
