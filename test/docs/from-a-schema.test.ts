/** Runs the examples of docs/from-a-schema.md: each schema is converted and declared, and takes the entities that it should. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { rowsOf } from '../support/entities.ts';
import { readDocument, section } from '../support/markdown.ts';
import { useService } from '../support/service.ts';

const service = useService();
const page = readDocument('docs/from-a-schema.md');
const titles = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title).filter((title) => title !== 'What becomes of what');
let directory: string;
let cookie: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'schemas-'));
  cookie = await service().openSession((await service().createUser('ada')).id);
});
afterAll(() => rm(directory, { recursive: true }));

test('the page has a section for each kind of schema, and shows the file of the repository', () => {
  expect(titles).toEqual(['Draft 7', 'Pydantic', 'Zod', 'TypeBox', 'OpenAPI 3.0']);
  const [, shown = ''] = /```json\n(.*?)```/s.exec(section(page, '## Draft 7')) ?? [];
  expect(JSON.parse(shown)).toEqual(JSON.parse(readDocument('examples/schemas/supplier.json')));
});

test.each(titles)('%s', async (title) => {
  const text = section(page, `## ${title}`);
  const [schema = '', notes = ''] = ['json', 'text'].map((kind) => new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 's').exec(text)?.[1]);
  const name = title.toLowerCase().replaceAll(/\W/g, '-');
  const [from, to] = [join(directory, `${name}.schema.json`), join(directory, `${name}.json`)];
  await writeFile(from, schema);
  const admin = new AdminCommand(service().databaseUrl);
  const at = /`--at ([^`]+)`/.exec(text)?.[1];
  const converted = await admin.run(['types', 'convert', from, '--out', to, ...(at === undefined ? [] : ['--at', at])]);
  expect(converted).toMatchObject({ code: 0, stderr: notes });
  expect(await admin.say(['types', 'apply', to])).toBe(`Applied: ${name}.\n`);

  const [fits = '', fitsNot = ''] = [...text.matchAll(/`(\{"name[^`]+)`/g)].map(([, fields = '']) => fields);
  const create = (raw: string) =>
    service().call('POST', `/rest/entity/${name}`, { cookie, raw, headers: { 'content-type': 'application/json' } });
  const created = await create(fits);
  expect(created.status, created.text).toBe(201);
  expect((await create(fitsNot)).status).toBe(422);
  expect(await rowsOf(service(), name)).toHaveLength(1);
  expect(JSON.parse(await readFile(to, 'utf8'))).not.toHaveProperty('definitions');
});
