/** `npx entity-service-client types`, without the process around it; package.test.ts runs it from the package. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printTypes } from '../../src/client/cli/print-types.ts';
import { writeTypes, type TypesOptions } from '../../src/client/cli/types-command.ts';
import { UsageError } from '../../src/client/cli/usage-error.ts';
import { declareType } from '../support/entities.ts';
import { password, useService } from '../support/service.ts';
import { hostileTypes, typedContract } from '../support/typed-documents.ts';

const service = useService();
let apiKey: string;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'entity-service-types-'));
  for (const [name, document] of Object.entries(hostileTypes)) await declareType(service(), name, document);
  const { id } = await service().createUser('ada');
  apiKey = await service().createKey(id);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Run {
  status: number;
  printed: string;
  reported: string[];
  prompts: string[];
}

async function run(
  options: TypesOptions,
  environment: Record<string, string> = { ENTITY_SERVICE_API_KEY: apiKey },
  typed = '',
): Promise<Run> {
  const result: Run = { status: -1, printed: '', reported: [], prompts: [] };
  result.status = await writeTypes(
    { url: service().url, ...options },
    {
      environment,
      prompt: async (question) => {
        result.prompts.push(question);
        return typed;
      },
      print: (text) => (result.printed += text),
      report: (text) => result.reported.push(text),
    },
  );
  return result;
}

describe('the types', () => {
  test('have an interface for the fields, with their descriptions, a filter and a sort', async () => {
    const { status, printed } = await run({ type: ['customer'] });
    expect(status).toBe(0);
    expect(printed).toContain("import type { EntityFilter, EntitySort } from 'entity-service-client';");
    expect(printed).toContain(
      '/** Buys things. */\nexport interface Customer {\n  company: string;\n  city?: string | null;\n  credit?: string;',
    );
    expect(printed).toContain('export type CustomerFilter = EntityFilter<Customer>;\nexport type CustomerSort = EntitySort<Customer>;');
    expect(printed).toContain('export interface EntityFields {\n  customer: Customer;\n}');
    expect(printed).not.toMatch(/OrderLine|FileType/);
  });

  test('of all types, strange ones among them, compile and are what the documents say', async () => {
    const { printed } = await run({});
    const program = `${printed.replace("'entity-service-client'", `'${join(import.meta.dirname, '../../src/client/index.ts')}'`)}
      type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
      export const equal: [
        Equal<Customer['state'], 'open' | 'closed' | undefined>, Equal<Customer['lines'], Customer_Line[] | undefined>,
        Equal<Customer['anything'], unknown>, Equal<Customer['first name'], string | undefined>, Equal<Customer_Line['count'], number>,
        Equal<EntityFields['sessions'], { [name: string]: unknown }>, Equal<EntityFields['customer-line'], { [name: string]: number }>,
        Equal<EntityFields['order_line']['either'], string | number | undefined>, Equal<EntityFields['order_line']['fixed'], 'a' | undefined>,
        Equal<EntityFields['Session']['old'], string | null | undefined>, Equal<EntityFields['Session']['never'], undefined>,
        Equal<Tree['self'], Tree | undefined>, Equal<Tree_Node['below'], Tree_Node | undefined>,
      ] = [true, true, true, true, true, true, true, true, true, true, true, true, true];
      export const filter: CustomerFilter = { credit: { $gte: '1' }, address: { zip: 'x' }, tags: { $contains: 'y' }, state: 'open' };
      export const sort: CustomerSort[] = ['-credit', 'address.geo.lat', '$key'];
      // @ts-expect-error
      export const wrong: CustomerSort = 'lines';
    `;
    const path = join(directory, 'all.ts');
    await writeFile(path, program);
    const compiled = ts.createProgram([path], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
    });
    const faults = ts.getPreEmitDiagnostics(compiled, compiled.getSourceFile(path));
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });

  test('have titles, descriptions and labels of values as comments (check 7)', () => {
    const state = { enum: ['draft', 'posted'], title: 'Zustand', 'x-labels': { draft: 'Entwurf', posted: 'Gebucht' } };
    const schemas = {
      A: { type: 'object', title: 'Rechnung', description: 'Was ein Kunde schuldet.', properties: { state, plain: { title: 'Nur so' } } },
    };
    const printed = printTypes({ tags: [{ name: 'A', 'x-entity-type': 'a' }], components: { schemas } }) ?? '';
    expect(printed).toContain('/**\n * Rechnung\n * Was ein Kunde schuldet.\n */\nexport interface A {');
    expect(printed).toContain('  /**\n   * Zustand\n   * draft: Entwurf\n   * posted: Gebucht\n   */\n  state?:');
    expect(printed).toContain('  /** Nur so */\n  plain?:');
  });

  test('of a caller with no right but type are the same', async () => {
    const { id } = await service().createUser('generator', { customer: ['type'] });
    const key = await service().createKey(id);
    const [all, one] = [await run({ type: ['customer'] }), await run({}, { ENTITY_SERVICE_API_KEY: key })];
    expect(one.printed).toBe(all.printed);
  });

  test('new entities have a type of their own where the document has one for them', () => {
    const text = { type: 'string' };
    const schemas = { A: { type: 'object', properties: { a: text } }, ANew: { type: 'object', properties: { b: text } } };
    const printed = printTypes({ tags: [{ name: 'A', 'x-entity-type': 'a' }], components: { schemas } }) ?? '';
    expect(printed).toMatch(/export interface ANew \{\s+b\?: string;/);
    expect(printed).not.toContain('ANewFilter');
  });

  test('cannot be left by a comment of the document', async () => {
    const schemas = {
      A: {
        type: 'object',
        description: 'x */ export const evil = 1; /*\nsecond',
        properties: { '"]: 1; evil': { enum: ['"', "'", '`'] } },
      },
    };
    const text = printTypes({ tags: [{ name: 'A', 'x-entity-type': 'a' }], components: { schemas } }) ?? '';
    const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.ESNext);
    expect(source.statements.map(({ kind }) => ts.SyntaxKind[kind])).toEqual([
      'ImportDeclaration',
      'InterfaceDeclaration',
      'TypeAliasDeclaration',
      'TypeAliasDeclaration',
      'InterfaceDeclaration',
    ]);
  });

  test.each([
    [{ type: 'array', prefixItems: [{ type: 'string' }], items: false }, '[string]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, '[string, ...unknown[]]'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [
      { allOf: [{ $ref: '#/components/schemas/B' }, { type: 'object', properties: { c: { type: 'integer' } } }] },
      'B & {\n    c?: number;\n  }',
    ],
    [{ oneOf: [{ const: 1 }, { const: null }] }, '1 | null'],
    [{ enum: [{ a: 1 }, 'b'] }, 'unknown'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [true, 'unknown'],
    [false, 'never'],
  ])('%j is %s', (schema, type) => {
    const schemas = { A: { type: 'object', properties: { b: schema } }, B: { type: 'object' } };
    const text = printTypes({ tags: [{ name: 'A', 'x-entity-type': 'a' }], components: { schemas } });
    expect(text).toContain(`{\n  b?: ${type};\n}`);
  });
});

describe('the file', () => {
  test('is written, and checked without writing', async () => {
    const out = join(directory, 'types.ts');
    await expect(run({ check: true })).rejects.toThrow('--check needs --out');
    expect(await run({ type: ['file'], out, check: true })).toMatchObject({ status: 1, reported: [`${out} does not exist.`] });
    expect(await run({ type: ['file'], out })).toMatchObject({ status: 0, printed: '', reported: [`wrote ${out}`] });
    const written = await stat(out);
    expect(await run({ type: ['file'], out, check: true })).toMatchObject({ status: 0, reported: [] });
    expect(await run({ type: ['file'], out })).toMatchObject({ status: 0, reported: [] });
    expect((await stat(out)).mtimeMs, 'what is up to date is not written again').toBe(written.mtimeMs);
    const stale = await run({ type: ['file', 'tree'], out, check: true });
    expect([stale.status, stale.reported[0]]).toEqual([1, expect.stringContaining('differs from the types')]);
    expect(await readFile(out, 'utf8')).not.toContain('Tree');
    await expect(run({ out: join(directory, 'none/types.ts') })).rejects.toThrow('ENOENT');
  });
});

describe('the credential', () => {
  test('is a key of the environment, or one that the command prompts for', async () => {
    const given = await run({ type: ['file'] });
    expect(given.prompts).toEqual([]);
    expect(await run({ type: ['file'], 'api-key': true }, {}, apiKey)).toMatchObject({ printed: given.printed, prompts: ['API key: '] });
  });

  test('is a user’s password, whose session ends afterwards', async () => {
    const given = await run({ type: ['file'], user: 'ada' }, { ENTITY_SERVICE_PASSWORD: password });
    expect(given.printed).toContain('FileType');
    expect(await run({ type: ['file'], user: 'ada' }, {}, password)).toMatchObject({
      printed: given.printed,
      prompts: ['Password of ada: '],
    });
    const live = await service().db.selectFrom('session').where('revoked_at', 'is', null).select('id').execute();
    expect(live).toEqual([]);
  });

  test.each<[string, TypesOptions, Record<string, string>, RegExp]>([
    ['none', {}, {}, /no credential: set ENTITY_SERVICE_API_KEY/],
    ['two', { 'api-key': true, user: 'ada' }, {}, /one of --api-key, --token and --user/],
    ['an address that is none', { url: 'localhost:3000' }, {}, /no http or https address/],
    ['an unknown type', { type: ['none'] }, {}, /there is no type none, or this caller may not see it/],
    ['a key that is not valid', { type: ['file'] }, { ENTITY_SERVICE_API_KEY: 'esk_nonsense' }, /./],
    ['a token that is not valid', { token: true }, { ENTITY_SERVICE_TOKEN: 'nonsense' }, /./],
    ['a service that does not answer', { url: 'http://127.0.0.1:1' }, { ENTITY_SERVICE_API_KEY: 'esk_x' }, /./],
  ])('refuses %s', async (what, options, environment, message) => {
    const given = what === 'an unknown type' ? { ENTITY_SERVICE_API_KEY: apiKey } : environment;
    await expect(run(options, given)).rejects.toThrow(message);
  });

  test('without a type to see there is no file', async () => {
    const { id } = await service().createUser('stranger', { other: ['read'] });
    const key = await service().createKey(id);
    await expect(run({}, { ENTITY_SERVICE_API_KEY: key })).rejects.toThrow(UsageError);
    expect((await typedContract(service(), { headers: { 'x-api-key': key } }, '*')).status).toBe(200);
  });
});
