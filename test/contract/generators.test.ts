/**
 * An independent generator accepts openapi.yaml. openapi-typescript and hey-api make our own types and client, so `npm run generate`
 * already compiles their output; this is a third one.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../support/operations.ts';

const root = join(import.meta.dirname, '../..');
let directory: string;
let program: ts.Program;
let client: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-generators-'));
  client = join(directory, 'oazapfts.ts');
  const command = join(root, 'node_modules/oazapfts/dist/cli.js');
  await promisify(execFile)(process.execPath, [command, join(root, 'openapi.yaml'), client]);
  program = ts.createProgram([client], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    paths: {
      '@oazapfts/runtime': [join(root, 'node_modules/@oazapfts/runtime')],
      '@oazapfts/runtime/*': [join(root, 'node_modules/@oazapfts/runtime/*')],
    },
  });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('oazapfts makes a client of it that compiles', () => {
  const faults = ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  expect(faults).toEqual([]);
});

test('the client has a function for every operation', () => {
  const source = program.getSourceFile(client);
  const names = source?.statements.filter((statement) => ts.isFunctionDeclaration(statement)).map(({ name }) => name?.text ?? '');
  expect(names?.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
});
