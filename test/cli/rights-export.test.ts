/** `rights export` and `rights status`. */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  const rule = JSON.stringify({ filter: { region: { $in: { $var: 'user.regions' } } }, read: ['*', '-margin'] });
  const grant = ['role', 'grant', 'clerk', '--entity'];
  await admin.say(['attribute', 'set', 'user', 'regions', '--schema', '{"type":"array","items":{"type":"string"}}']);
  await admin.say(['attribute', 'set', 'profile', 'customer', '--schema', '{"type":"string","format":"int64","to":"customer"}']);
  await admin.say(['role', 'create', 'clerk', '--description', 'Works on orders: "some"']);
  await admin.say([...grant, 'order', '--actions', 'read,update', '--rule', '-', '--name', 'region'], rule);
  await admin.say([...grant, '*', '--actions', 'read', '--condition', 'own']);
  await admin.say([...grant, 'order', '--actions', 'create,label']);
  await admin.say(['profile', 'create', 'sales', '--label', 'Sales', '--roles', 'clerk', '--locale', 'de-AT']);
});

/** The outcome of `rights status` over the directory. */
async function statusOf(directory: string) {
  const { code, stdout, stderr } = await admin.run(['rights', 'status', directory, '--json']);
  return { code, stderr, document: JSON.parse(stdout) as { differences: { path: string; isMissing: boolean }[]; withoutFile: string[] } };
}

test('0 — an export is in force as it is, and has own rows, rules and attributes', async () => {
  const directory = join(await rightsDirectory({}), 'rights');
  expect(await admin.say(['rights', 'export', '--out', directory])).toBe(`Wrote 3 files to ${directory}.\n`);
  expect(await statusOf(directory)).toEqual({ code: 0, stderr: '', document: { differences: [], withoutFile: [] } });
  expect(await admin.say(['rights', 'status', directory])).toBe('The rights are in force as the files have them.\n');
  expect(await admin.say(['rights', 'export'])).toContain(
    "    filter: { region: { $in: { $var: user.regions } } }\n    read: [ '*', -margin ]",
  );
  expect(await admin.refusal(['rights', 'export', '--out', directory])).toContain(`${directory} cannot be written: EEXIST`);
});

test('0 — an export names profiles whose attributes are keys of this database', async () => {
  const note = 'note: keys of entities of this database are in profiles/sales: another database may have others\n';
  expect((await admin.run(['rights', 'export'])).stderr).toBe('');
  const key = await service().db.selectFrom('profile').select('attributes').where('name', '=', 'sales').executeTakeFirstOrThrow();
  expect(key.attributes).toEqual({});
  await service().db.updateTable('profile').set({ attributes: '{"customer":"7"}' }).where('name', '=', 'sales').execute();
  const run = await admin.run(['rights', 'export', '--json']);
  await service().db.updateTable('profile').set({ attributes: '{}' }).where('name', '=', 'sales').execute();
  expect(run).toMatchObject({ code: 0, stderr: note });
  expect(JSON.parse(run.stdout)).toMatchObject({ files: { 'profiles/sales.yaml': expect.stringContaining("customer: '7'") } });
});

test('3 — each document that is missing or differs is named; one without a file is a note', async () => {
  const directory = await rightsDirectory({
    'README.md': 'no rights',
    'roles/clerk.json': '{ "grants": [ { "entity": "order", "actions": ["read"] } ] }',
    'roles/auditor.yml': { grants: [] },
    'attributes.yaml': { user: { regions: { type: 'array', items: { type: 'string' } } } },
  });
  expect(await statusOf(directory)).toEqual({
    code: 3,
    stderr: 'note: no file has attributes/profile/customer, profiles/sales\n',
    document: {
      differences: [
        { path: 'roles/auditor', isMissing: true },
        { path: 'roles/clerk', isMissing: false },
      ],
      withoutFile: ['attributes/profile/customer', 'profiles/sales'],
    },
  });
});

test('0 — the order of grants, actions and roles is no difference', async () => {
  const directory = await rightsDirectory({});
  const { files } = await admin.json<{ files: Record<string, string> }>(['rights', 'export']);
  await writeRights(directory, files);
  expect((await statusOf(directory)).code).toBe(0);
  const clerk = {
    description: 'Works on orders: "some"',
    grants: [
      { entity: 'order', actions: ['label', 'create'] },
      { entity: '*', actions: ['read'], filter: { $createdBy: { $var: 'user.name' } } },
      {
        read: ['*', '-margin'],
        filter: { region: { $in: { $var: 'user.regions' } } },
        actions: ['update', 'read'],
        name: 'region',
        entity: 'order',
      },
    ],
  };
  await writeRights(directory, { 'roles/clerk.yaml': clerk });
  expect((await statusOf(directory)).code).toBe(0);
  await writeRights(directory, { 'roles/clerk.yaml': { ...clerk, grants: clerk.grants.slice(1) } });
  expect((await statusOf(directory)).code).toBe(3);
});

const grant = { entity: 'order', actions: ['read'] };
const rule = { filter: { region: 'north' } };

test.each<[string, Record<string, unknown>, string]>([
  [
    'two files for one role',
    { 'roles/a.yaml': { grants: [] }, 'roles/a.json': '{"grants":[]}' },
    'roles/a.yaml: there is a second file for a: roles/a.json',
  ],
  ['a role called like no role', { 'roles/ä.yaml': { grants: [] } }, 'roles/ä.yaml: the part before the dot is no name'],
  ['a misspelt directory', { 'rolls/a.yaml': {} }, 'rolls: a directory of rights has no such directory. Expected: roles.'],
  ['a misspelt file', { 'atributes.yaml': {} }, 'atributes.yaml: a directory of rights has no such file. Expected: attributes.yaml.'],
  ['no YAML', { 'roles/a.yaml': 'grants: [' }, 'roles/a.yaml: '],
  ['a member twice', { 'roles/a.yaml': 'grants: []\ngrants: []' }, 'roles/a.yaml: Map keys must be unique'],
  [
    'a member twice in JSON',
    { 'roles/a.json': '{"grants":[],"grants":[]}' },
    'roles/a.json: /grants: This object has two members of the same name.',
  ],
  ['__proto__', { 'roles/a.yaml': '__proto__: 1\ngrants: []' }, 'roles/a.yaml: /__proto__: The name of this member is reserved.'],
  ['no grants', { 'roles/a.yaml': {} }, 'roles/a.yaml: /grants: This is required.'],
  ['an unknown member', { 'roles/a.yaml': { grants: [], grant: 1 } }, 'roles/a.yaml: /grant: This name is not known here.'],
  [
    'an unknown action',
    { 'roles/a.yaml': { grants: [{ ...grant, actions: ['reed'] }] } },
    'roles/a.yaml: /grants/0/actions/0: This value is not accepted.',
  ],
  ['no action', { 'roles/a.yaml': { grants: [{ ...grant, actions: [] }] } }, 'roles/a.yaml: /grants/0/actions: This is too short.'],
  [
    'an entity of no name',
    { 'roles/a.yaml': { grants: [{ ...grant, entity: '7' }] } },
    'roles/a.yaml: /grants/0/entity: This value is not accepted.',
  ],
  ['a rule without a name', { 'roles/a.yaml': { grants: [{ ...grant, ...rule }] } }, 'roles/a.yaml: /grants/0/name: This is required.'],
  ['a name without a rule', { 'roles/a.yaml': { grants: [{ ...grant, name: 'north' }] } }, 'roles/a.yaml: /grants/0: This is required.'],
  [
    'a fault of a rule',
    { 'roles/a.yaml': { grants: [{ ...grant, name: 'n', set: { a: 1 } }] } },
    'roles/a.yaml: /grants/0/set: This name is not known here.',
  ],
  ['a grant twice', { 'roles/a.yaml': { grants: [grant, grant] } }, 'roles/a.yaml: /grants/1: This may be given only once.'],
  [
    'any and own rows',
    { 'roles/a.yaml': { grants: [grant, { ...grant, filter: { $createdBy: { $var: 'user.name' } } }] } },
    '/grants/1: This may be given only once.',
  ],
  [
    'a name for two rules',
    {
      'roles/a.yaml': {
        grants: [
          { ...grant, ...rule, name: 'n' },
          { ...grant, filter: { a: 1 }, actions: ['update'], name: 'n' },
        ],
      },
    },
    '/grants/1/name: This may be given only once.',
  ],
  [
    'a rule with two names',
    {
      'roles/a.yaml': {
        grants: [
          { ...grant, ...rule, name: 'n' },
          { ...grant, ...rule, name: 'm' },
        ],
      },
    },
    '/grants/1: This may be given only once.',
  ],
  [
    'a role twice',
    { 'profiles/p.yaml': { label: 'P', roles: ['clerk', 'clerk'] } },
    'profiles/p.yaml: /roles/1: This may be given only once.',
  ],
  ['no label', { 'profiles/p.yaml': { roles: ['clerk'] } }, 'profiles/p.yaml: /label: This is required.'],
  [
    'a locale of no language',
    { 'profiles/p.yaml': { label: 'P', roles: ['clerk'], locale: '?' } },
    'profiles/p.yaml: /locale: This value is not accepted.',
  ],
  [
    'an attribute that is null',
    { 'profiles/p.yaml': { label: 'P', roles: ['clerk'], attributes: { a: null } } },
    'profiles/p.yaml: /attributes/a: This value is not accepted.',
  ],
  [
    'an attribute of no type',
    { 'attributes.yaml': { user: { regions: { type: 'aray' } } } },
    'attributes.yaml: /user/regions/type: This value is not accepted.',
  ],
  [
    'a reserved attribute',
    { 'attributes.yaml': { user: { name: { type: 'string' } } } },
    'attributes.yaml: /user/name: This value is not accepted.',
  ],
  ['an attribute of nobody', { 'attributes.yaml': { users: {} } }, 'attributes.yaml: /users: This name is not known here.'],
])('1 — %s is refused with its file and its place (rule 174)', async (_, files, line) => {
  const directory = await rightsDirectory(files);
  const refusal = await admin.refusal(['rights', 'status', directory]);
  expect(refusal).toMatch(/^rights: /);
  expect(refusal).toContain(line);
});

test('1 — each fault has a line, and a directory that does not exist is refused', async () => {
  const directory = await rightsDirectory({ 'roles/a.yaml': {}, 'roles/b.yaml': {} });
  const { code, stdout, stderr } = await admin.run(['rights', 'status', directory]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe('error: rights: roles/a.yaml: /grants: This is required.\nerror: rights: roles/b.yaml: /grants: This is required.\n');
  expect(await admin.refusal(['rights', 'status', join(directory, 'none')])).toContain('no such file or directory');
});
