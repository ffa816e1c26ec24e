import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { AdminCommand, startAdmin } from '../support/admin.ts';
import { connect } from '../support/embedded.ts';
import { declareType, rowsOf } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;
let directory: string;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  await service().createUser('ada');
  directory = await mkdtemp(join(tmpdir(), 'entities-'));
  const number = { type: 'string' };
  const document = { type: 'object', properties: { number, stock: { type: 'integer' } }, 'x-unique': [{ fields: ['number'] }] };
  await declareType(service(), 'article', document);
});
afterAll(() => rm(directory, { recursive: true }));

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

test('a file is imported in the name of a user, with the administrator in the audit trail, and is exported again', async () => {
  const file = await fileOf('articles.csv', 'number,stock\n1,10\n2,x\n3,30\n');
  const words = ['entities', 'import', 'article', file, '--as', 'ada', '--by', 'number'];
  const planned = await admin.run([...words, '--dry-run']);
  expect(planned).toMatchObject({ code: 1, stdout: 'Would have created 2, updated 0, left 0 unchanged, refused 1.\n' });
  expect(await rowsOf(service(), 'article')).toEqual([]);

  const first = await admin.run(words);
  expect(first).toMatchObject({ code: 1, stdout: 'Created 2, updated 0, left 0 unchanged, refused 1.\n' });
  expect(first.stderr).toMatch(/^row 3: \/stock: .+\nerror: 1 row was refused\n$/);
  const rows = await service().db.selectFrom('entity').where('name', '=', 'article').select(['created_by', 'fields']).execute();
  expect(rows).toMatchObject([{ created_by: 'ada' }, { created_by: 'ada' }]);
  const event = await service().db.selectFrom('audit_event').where('event', '=', 'entity.created').selectAll().executeTakeFirstOrThrow();
  expect(event).toMatchObject({ user_name: 'ada', user_agent: expect.stringMatching(/^administrator .+ \(cli\)$/) });
  expect(await admin.json([...words, '--from-row', '4'])).toMatchObject({ row: 4, created: 0, unchanged: 1, failed: 0, done: true });

  const target = join(directory, 'out.csv');
  expect(await admin.say(['entities', 'export', 'article', target])).toBe(`Wrote 2 entities into ${target}.\n`);
  expect((await readFile(target, 'utf8')).replaceAll(/^\d+/gm, 'KEY').replace(/db\w+/, 'DB')).toBe(
    '$key,number,stock,$fields,$database=DB\r\nKEY,1,10,,\r\nKEY,3,30,,\r\n',
  );
  expect(await admin.run(['entities', 'export', 'article', target])).toMatchObject({
    code: 1,
    stderr: `error: ${target} exists already: name another file\n`,
  });
  const exported = await service().db.selectFrom('audit_event').where('event', '=', 'entity.exported').select('detail').execute();
  expect(exported, 'a refused export is none').toHaveLength(1);
  expect(exported[0]?.detail).toMatchObject({ by: 'administrator', via: 'cli', entity: 'article', format: 'csv' });
});

test('Ctrl-C in the middle of an export, or a failure, leaves no file', async () => {
  const folder = await mkdtemp(join(directory, 'exports-'));
  const target = join(folder, 'out.ndjson');
  const environment = { DATABASE_URL: service().databaseUrl };
  // Without a filter the command would count the entities first.
  const words = ['entities', 'export', 'article', target, '--filter', '{}'];
  const holder = await connect(service().databaseUrl);
  await holder.query('begin; lock table entity');
  const waits = vi.waitFor(
    async () => {
      expect(
        (
          await holder.query(
            `select from pg_locks where relation = 'entity'::regclass and not granted and database = (select oid from pg_database where datname = current_database())`,
          )
        ).rowCount,
      ).toBe(1);
      expect(await readdir(folder)).toEqual([expect.stringMatching(/^out\.ndjson\.\w+\.partial$/)]);
    },
    { timeout: 20_000 },
  );
  const cancelled = await startAdmin(words, { environment, interrupt: waits });
  expect(cancelled).toMatchObject({ code: 1, stdout: '', stderr: 'error: cancelled: there is no file\n' });
  expect(await readdir(folder)).toEqual([]);

  const failed = await startAdmin(words, { environment });
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: /) });
  expect(await readdir(folder)).toEqual([]);
});

test('an export takes a filter and fields, and goes to standard output for other programs', async () => {
  const rows = ['{"number":"21","stock":1}', '{"number":"22","stock":2}', '{"number":"23","stock":3}'].join('\n');
  await admin.say(['entities', 'import', 'article', await fileOf('more.ndjson', `${rows}\n`), '--as', 'ada']);
  const words = ['entities', 'export', 'article', '-', '--filter', '{"number":{"$in":["21","23"]}}'];
  const { code, stdout, stderr } = await admin.run([...words, '--fields', 'stock', '--format', 'csv']);
  expect([code, stdout.replaceAll(/^\d+/gm, 'KEY').replace(/db\w+/, 'DB'), stderr]).toEqual([
    0,
    '$key,stock,$database=DB\r\nKEY,1,\r\nKEY,3,\r\n',
    'note: wrote 2 entities\n',
  ]);
  const lines = (await admin.run(words)).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { fields: { number: '21', stock: 1 } },
    { fields: { number: '23', stock: 3 } },
    { $complete: true, entities: 2 },
  ]);
});

test.each([
  { options: ['--filter', '{"stock":"x"}'], fault: '--filter: /stock: ' },
  { options: ['--filter', '{"missing":1', '--fields', 'stock'], fault: '--filter: the value: ' },
  { options: ['--fields', '$nothing'], fault: '--fields: the value: ' },
])('an export refuses $options, and writes nothing', async ({ options, fault }) => {
  const target = join(directory, 'refused.csv');
  const { code, stdout, stderr } = await admin.run(['entities', 'export', 'article', target, ...options]);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`error: ${fault}`)]);
  await expect(readFile(target)).rejects.toThrow('ENOENT');
});

test('an import that cannot read on says from which row to go on', async () => {
  const file = await fileOf('broken.csv', 'number,stock\n8,1\n9,"1"2\n');
  const { code, stderr } = await admin.run(['entities', 'import', 'article', file, '--as', 'ada']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^row 3: .+CSV.+\nerror: the import ended after row 2: .+ Go on with --from-row 3\n$/);
});

test('a line of 100 MB is a fault of its row, and the rows beside it are written (rule 71)', async () => {
  const long = `{"number":"${'9'.repeat(100_000_000)}"}`;
  const file = await fileOf('long.ndjson', `{"number":"51"}\n${long}\n{"number":"53"}\n`);
  const { code, stdout, stderr } = await admin.run(['entities', 'import', 'article', file, '--as', 'ada']);
  expect([code, stdout]).toEqual([1, 'Created 2, updated 0, left 0 unchanged, refused 1.\n']);
  expect(stderr).toMatch(/^row 2: .{1,200}\nerror: 1 row was refused\n$/);
});

test('CSV of 2 GB in one open quote ends after 2 MiB, and says at which row (rule 71)', async () => {
  const file = await fileOf('quote.csv', 'number,stock\n61,1\n"62');
  await truncate(file, 2 ** 31);
  const { code, stdout, stderr } = await admin.run(['entities', 'import', 'article', file, '--as', 'ada']);
  expect([code, stdout]).toEqual([1, 'Created 1, updated 0, left 0 unchanged, refused 1.\n']);
  expect(stderr).toMatch(/^row 3: .{1,200}\nerror: the import ended after row 2: .{1,200} Go on with --from-row 3\n$/);
});

test('a user, a rule and a file that do not exist are refused', async () => {
  const file = await fileOf('one.ndjson', '{"number":"1"}\n');
  const run = (...words: string[]) => admin.run(['entities', 'import', 'article', ...words]);
  expect(await run(file, '--as', 'nobody')).toMatchObject({ code: 1, stderr: 'error: there is no user called "nobody"\n' });
  expect(await run(file, '--as', 'ada', '--by', 'stock')).toMatchObject({ code: 2, stderr: expect.stringContaining('--by') });
  expect(await run(join(directory, 'none.csv'), '--as', 'ada')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be read'),
  });
  expect((await run(file)).code).toBe(2);
});

test('a file of another database is refused where it refers by keys, and --keep-keys takes it', async () => {
  const key = { type: 'string', format: 'int64' };
  await declareType(service(), 'part', { properties: { article: key }, 'x-references': { article: { to: 'article' } } });
  const article = (await rowsOf(service(), 'article'))[0]?.key ?? '';
  const file = await fileOf('parts.csv', `article,$database=db0123456789abcdef\n${article},\n`);
  const words = ['entities', 'import', 'part', file, '--as', 'ada'];
  const refused = await admin.run(words);
  expect(refused).toMatchObject({ code: 1, stdout: 'Created 0, updated 0, left 0 unchanged, refused 1.\n' });
  expect(refused.stderr).toMatch(/^row 2: \/article: .+ article\.number\.\n/);
  expect(await rowsOf(service(), 'part')).toEqual([]);
  expect(await admin.say([...words, '--keep-keys'])).toBe('Created 1, updated 0, left 0 unchanged, refused 0.\n');
});
