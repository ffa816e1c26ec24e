/** Rules by which lists are mostly empty, as administrators grant them and as files have them (check 35 of rights). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowRuleLimits } from '../../src/administration/roles/slow-rules.ts';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();
const usual = { ...slowRuleLimits };
let admin: AdminCommand;
let directory: string;

beforeAll(async () => {
  Object.assign(slowRuleLimits, { entities: 900 });
  const text = { type: 'string' };
  const reference = { type: 'string', format: 'int64' };
  await declareType(service(), 'customer', { type: 'object', properties: { agent: text, town: text }, 'x-index': [['agent']] });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { note: text, region: text, day: text, customer: reference },
    'x-references': { customer: { to: 'customer' } },
    'x-index': [['region']],
  });
  for (const name of ['order', 'note'])
    await sql`
      insert into entity (name, fields, created_by, updated_by)
      select ${name}, jsonb_build_object('note', case when n <= 4 then 'rare' else 'usual' end, 'region', 'r' || n % 400, 'day', case when n <= 20 then 'a' else 'b' end), 'root', 'root'
      from generate_series(1, 1000) as n`.execute(service().db);
  await service().createUser('eve');
  admin = new AdminCommand(service().databaseUrl);
  directory = await mkdtemp(join(tmpdir(), 'slow-'));
  await admin.say(['role', 'create', 'slow']);
});
afterAll(async () => {
  Object.assign(slowRuleLimits, usual);
  await rm(directory, { recursive: true });
});

let files = 0;
async function refusalOf(filter: object, { entity = 'order', actions = 'read', more = [] as string[] } = {}): Promise<string | undefined> {
  const file = join(directory, `${++files}.json`);
  await writeFile(file, JSON.stringify({ filter }));
  const words = [
    'role',
    'grant',
    'slow',
    '--entity',
    entity,
    '--actions',
    actions,
    '--rule',
    file,
    '--name',
    `of ${actions.replace(',', '-')}`,
    ...more,
  ];
  const { code, stderr } = await admin.run(words);
  return code === 0 ? undefined : stderr;
}

const rare = { note: { $contains: 'rare' } };

test('a rule of read that no index serves is refused with its share and the index that it lacks, unless --allow-slow is given (check 35 of rights)', async () => {
  const refusal = await refusalOf(rare);
  expect(refusal).toContain('/filter: This needs an index. The rule covers 0.4 % of the entities.');
  expect(refusal).toContain('{"field":"note","substring":true}');
  expect(await refusalOf({ note: 'rare' })).toContain('Add ["note"] to x-index.');
  expect(await admin.json(['role', 'list'])).toContainEqual({ name: 'slow', description: '', grants: [], rules: [] });
  expect(await refusalOf(rare, { more: ['--allow-slow'] })).toBeUndefined();
});

test('a rule of label is refused likewise, and one of a name without a type', async () => {
  expect(await refusalOf(rare, { actions: 'label' })).toContain('0.4 %');
  expect(await refusalOf(rare, { actions: 'read,update' })).toContain('0.4 %');
  expect(await refusalOf({ note: 'rare' }, { entity: 'note' })).toContain('0.4 %');
});

test('a rule is taken that an index serves, that covers 1 %, that lists nothing, or that is about few entities', async () => {
  expect(await refusalOf({ region: 'r1' })).toBeUndefined();
  expect(await refusalOf({ $or: [{ region: 'r1' }, { region: { $in: ['r2', 'r3'] } }] })).toBeUndefined();
  expect(await refusalOf({ day: 'a' })).toBeUndefined();
  expect(await refusalOf({ note: 'rare' }, { actions: 'update' })).toBeUndefined();
  expect(await refusalOf({ agent: 'nobody' }, { entity: 'customer' })).toBeUndefined();
});

test('a look at other entities is served if an index finds these', async () => {
  expect(await refusalOf({ customer: { $match: { agent: { $var: 'user.name' } } } })).toBeUndefined();
  expect(await refusalOf({ customer: { $match: { town: 'Ulm' } } })).toContain('0 %');
});

test('a rule with a variable is tried with the values of users', async () => {
  expect(await refusalOf({ note: { $var: 'user.name' } })).toContain('0 %');
  expect(await refusalOf({ $or: [{ note: { $var: 'user.name' } }, { day: 'a' }] })).toBeUndefined();
});

describe('files of rights', () => {
  const grant = (filter: object, actions = ['read']) => ({ entity: 'order', name: 'of files', actions, filter });
  const fast = grant({ region: 'r1' });
  const files = (...grants: object[]) => ({ 'roles/filed.yaml': { description: '', grants } });
  const run = async (command: 'plan' | 'apply', directory: string, ...more: string[]) => {
    const { code, stderr, stdout } = await admin.run(['rights', command, directory, ...more]);
    return { code, text: stderr + stdout };
  };
  const filed = async () => (await admin.json<{ name: string }[]>(['role', 'list'])).find(({ name }) => name === 'filed');

  test('a plan and apply refuse such a rule with its document, its pointer and its index, unless --allow-slow is given', async () => {
    const directory = await rightsDirectory(files(fast));
    expect((await run('apply', directory)).code).toBe(0);
    const before = await filed();
    await writeRights(directory, files(fast, { ...grant(rare, ['read', 'update']), name: 'rare' }));
    for (const command of ['plan', 'apply'] as const) {
      const { code, text } = await run(command, directory);
      expect([command, code]).toEqual([command, 1]);
      expect(text).toContain('roles/filed.yaml: /grants/1/filter: This needs an index. The rule covers 0.4 % of the entities.');
    }
    expect(await filed()).toEqual(before);
    expect(await run('plan', directory, '--allow-slow')).toMatchObject({ code: 3 });
    expect(await run('apply', directory, '--allow-slow')).toMatchObject({ code: 0 });
    expect(await filed()).not.toEqual(before);
  });

  test('the exported rights are applied without a refusal', async () => {
    const directory = await rightsDirectory(files(fast, { ...grant(rare), name: 'rare' }));
    expect((await run('apply', directory, '--allow-slow')).code).toBe(0);
    const exported = join(directory, 'exported');
    await admin.say(['rights', 'export', '--out', exported]);
    expect(await run('apply', exported)).toMatchObject({ code: 0 });
  });

  test('a grant in force is not judged again, and one of other actions is not judged', async () => {
    const directory = await rightsDirectory(files(fast, { ...grant(rare, ['read', 'update']), name: 'rare' }));
    expect(await run('apply', directory, '--allow-slow')).toMatchObject({ code: 0 });
    expect(await run('plan', directory)).toMatchObject({ code: 0 });
    expect(await run('apply', directory)).toMatchObject({ code: 0 });
    await writeRights(directory, files(fast, { ...grant(rare), name: 'rare' }, { ...grant({ note: 'rare' }, ['delete']), name: 'gone' }));
    expect((await run('plan', directory)).code).not.toBe(1);
  });
});
