/** Rules by which lists are mostly empty, as administrators grant them (check 35 of the acceptance of rights). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slowRuleLimits } from '../../src/administration/roles/slow-rules.ts';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
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

test('a rule of read that no index serves is refused with its share and the index that it lacks, unless --allow-slow is given', async () => {
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
