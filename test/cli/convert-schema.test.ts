/** `types convert`: its input, its output and its exit code. test/entity-types/convert.test.ts has what becomes of schemas. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runAdmin } from '../support/admin.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'convert-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function fileOf(name: string, text: string): Promise<string> {
  await writeFile(join(directory, name), text);
  return join(directory, name);
}
const convert = (...words: string[]) => runAdmin(['types', 'convert', ...words]);

const [older, newer] = [{ properties: { a: { items: [{}] } } }, { properties: { a: { prefixItems: [{}] } } }];
const note = 'note: /properties/a/items: became prefixItems\n';

test('without a database it prints the document, and the notes on standard error', async () => {
  const file = await fileOf('a.json', `\uFEFF${JSON.stringify(older)}`);
  expect(await convert(file)).toEqual({ code: 0, stdout: `${JSON.stringify(newer, undefined, 2)}\n`, stderr: note });
  const asJson = await convert(file, '--json');
  expect(JSON.parse(asJson.stdout)).toEqual({ converted: newer, notes: [{ place: '/properties/a/items', text: 'became prefixItems' }] });
  const fromInput = await runAdmin(['types', 'convert', '-'], { input: 'properties:\n  a: { items: [{}] }\n' });
  expect(fromInput).toMatchObject({ code: 0, stderr: note });
  expect(JSON.parse(fromInput.stdout)).toEqual(newer);
});

test('--out writes a new file, as YAML if it is called so, and never one that exists', async () => {
  const file = await fileOf('b.yaml', 'properties:\n  a: { items: [{}] }\n');
  const out = join(directory, 'b.out.yaml');
  expect(await convert(file, '--out', out)).toMatchObject({ code: 0, stderr: note, stdout: expect.stringContaining(`Wrote ${out}.`) });
  const written = await readFile(out, 'utf8');
  expect(parse(written)).toEqual(newer);
  const again = await convert(file, '--out', out);
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: `${note}error: ${out} exists already: name another file\n` });
  expect(await readFile(out, 'utf8')).toBe(written);
});

test('what cannot be converted is a line of error each, and nothing is written', async () => {
  const file = await fileOf('c.json', '{"properties":{"a":{"$ref":"d.json#/x"},"b":{"extends":{}},"c":{"default":1}}}');
  const before = await readdir(directory);
  const run = await convert(file, '--out', join(directory, 'c.out.json'));
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr.trimEnd().split('\n')).toEqual([
    'note: /properties/c/default: dropped: the service fills in no values. The client sends them',
    expect.stringMatching(/^error: \/properties\/a\/\$ref: leads to d\.json#\/x, which is not in the file\. Name the file/),
    'error: /properties/b/extends: is no keyword of 2020-12. Write allOf instead',
  ]);
  expect(await readdir(directory)).toEqual(before);
  const other = await fileOf('d.json', '{"x":{"type":"string"}}');
  expect((await convert(file, other)).stderr).not.toContain('d.json#/x, which');
});

test('a file that cannot be read is named', async () => {
  const missing = join(directory, 'missing.json');
  expect(await convert(missing)).toMatchObject({ code: 1, stderr: expect.stringContaining(`error: ${missing} cannot be read: ENOENT`) });
  const broken = await fileOf('broken.json', '{"a":');
  expect(await convert(broken)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`error: ${broken} cannot be read: `),
  });
  expect(await convert()).toMatchObject({ code: 2 });
});
