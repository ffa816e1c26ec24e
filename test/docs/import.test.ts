/** Runs the examples of docs/import.md. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { clientOf } from '../support/client.ts';
import { declareType, rowsOf } from '../support/entities.ts';
import { readDocument, section } from '../support/markdown.ts';
import { password, useService } from '../support/service.ts';

const service = useService();
const page = readDocument('docs/import.md');
const blocksIn = (title: string, language: string) =>
  [...section(page, title).matchAll(new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 'gs'))].map(([, text = '']) => text);
const [faulty = ''] = blocksIn('## The file', 'csv');
const mended = faulty.replace('difference.example', 'difference@engines.example').replace('\n,loom', '\nLoom Works,loom');
let cookie: string;

interface Line {
  errors?: { pointer: string; code: string }[];
}

/** Sends the request of the page. Of each fault it leaves the place and the code. */
async function run(title: string, file: string, dryRun: boolean): Promise<string[]> {
  const [command = ''] = blocksIn(title, 'sh');
  const [, path = ''] = /example\.com([^']+)'/.exec(command) ?? [];
  const { status, text } = await service().call('POST', dryRun ? path : path.replace('&dryRun=true', ''), {
    cookie,
    headers: { 'content-type': 'text/csv' },
    raw: file,
  });
  expect(status, text).toBe(200);
  const lines = text
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{"done":false'));
  return lines.map((line) => {
    const { detail: _, errors, ...rest } = JSON.parse(line) as Line & { detail?: string };
    return JSON.stringify({ ...rest, ...(errors && { errors: errors.map(({ pointer, code }) => ({ pointer, code })) }) });
  });
}

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  const document: unknown = parse(readFileSync(new URL('../../examples/types/customer.yaml', import.meta.url), 'utf8'));
  await declareType(service(), 'customer', document as Record<string, unknown>);
});

test('the dry run tells both mistakes, and the mended file is imported once', async () => {
  const [report = ''] = blocksIn('## A dry run', 'text');
  expect((await run('## A dry run', faulty, true)).join('\n')).toBe(report);
  expect(await rowsOf(service(), 'customer')).toEqual([]);
  const [first = '', again = ''] = blocksIn('## The import', 'text');
  expect((await run('## A dry run', mended, false)).join('\n')).toBe(first);
  const rows = await rowsOf(service(), 'customer');
  expect((await run('## A dry run', mended, false)).join('\n')).toBe(again);
  expect(await rowsOf(service(), 'customer')).toEqual(rows);
});

test('the export is the file of the page', async () => {
  const [command = ''] = blocksIn('## The export', 'sh');
  const [, path = ''] = /example\.com([^']+)'/.exec(command) ?? [];
  const { text } = await service().call('GET', path, { cookie });
  const keys = (await rowsOf(service(), 'customer')).map(({ key }) => key);
  const [file = ''] = blocksIn('## The export', 'csv');
  expect(
    text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.replace(/^\d+/, (key) => String(keys.indexOf(key) + 1)).replace(/db[0-9a-f]{16}$/, 'DB')),
  ).toEqual(file.replace(/db[0-9a-f]{16}$/m, 'DB').split('\n'));
});

test('the client imports a file and rows, and reads an export', async () => {
  const [code = ''] = blocksIn('## With the client', 'ts');
  const client = clientOf(service());
  await client.createSession({ user: 'ada', password });
  const shown: unknown[] = [];
  const module = `export const run = async (client, file, console) => { ${code} }`;
  const imported = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as { run: (...values: unknown[]) => Promise<void> };
  const log = (value: unknown) => shown.push(value);
  await imported.run(client, new Blob([faulty]), { log, warn: log });
  expect(shown).toMatchObject(
    [/^row 3: \w/, /^row 4: \w/, '5 rows, 2 refused', '5 rows, 2 refused', { city: 'London' }].map((each) =>
      each instanceof RegExp ? expect.stringMatching(each) : each,
    ),
  );
  const reports: unknown[] = [];
  const rows = [{ company: 'x', email: 'x@y.example' }];
  for await (const report of client.entities('customer').importFrom(rows, { by: ['email'] })) reports.push(report);
  expect(reports.at(-1)).toEqual({ done: true, row: 1, created: 1, updated: 0, unchanged: 0, removedFields: 0, failed: 0 });
});
