/** RIGHTS_DIR: applied once, compared from then on. */
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { slowRuleLimits } from '../../src/administration/roles/slow-rules.ts';
import { AdminCommand } from '../support/admin.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();

const clerk = { description: 'Reads', grants: [{ entity: 'order', actions: ['read'] }] };

/** A running service with the directory, and the command beside it. */
async function withFiles(directory: string) {
  const replica = await service().replica({ RIGHTS_DIR: directory });
  onTestFinished(() => replica.stop());
  return { replica, admin: new AdminCommand(service().databaseUrl, { RIGHTS_DIR: directory }) };
}

const rolesCalled = (name: string) => service().db.selectFrom('role').where('name', '=', name).select('description').execute();

test('the start applies rights that are all new, and tells of later differences; rights apply ends them', async () => {
  const directory = await rightsDirectory({
    'roles/new-clerk.yaml': clerk,
    'profiles/new-sales.yaml': { label: 'Sales', roles: ['new-clerk'] },
  });
  const { replica, admin } = await withFiles(directory);
  expect(await rolesCalled('new-clerk')).toEqual([{ description: 'Reads' }]);
  const event = await service().db.selectFrom('audit_event').where('event', '=', 'rights.applied').select('detail').executeTakeFirst();
  expect(event?.detail).toMatchObject({ by: 'service', via: 'files', effect: 'none', steps: 2 });
  const watch = replica.context.rightsFiles;
  expect(watch?.differences).toBe(0);

  await writeRights(directory, { 'roles/new-clerk.yaml': { ...clerk, description: 'Reads and more' } });
  const warn = vi.spyOn(replica.app.log, 'warn');
  await watch?.compare();
  await watch?.compare();
  expect(watch?.differences).toBe(1);
  expect(warn.mock.calls.map(([members]) => members)).toEqual([{ event: 'rights.drift', documents: ['roles/new-clerk'] }]);
  const doctor = await admin.run(['doctor', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string; message: string }[] };
  expect(checks.find(({ name }) => name === 'rights files')).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('roles/new-clerk'),
  });
  await admin.say(['rights', 'apply', directory]);
  await watch?.compare();
  expect(watch?.differences).toBe(0);
});

test('the start changes no rights if one of the documents exists, not even those that do not (rule 174)', async () => {
  const before = new AdminCommand(service().databaseUrl);
  await before.say(['role', 'create', 'old-clerk', '--description', 'Older']);
  const directory = await rightsDirectory({ 'roles/old-clerk.yaml': clerk, 'roles/other-clerk.yaml': clerk });
  const { replica } = await withFiles(directory);
  expect(replica.context.rightsFiles?.differences).toBe(2);
  expect(await rolesCalled('old-clerk')).toEqual([{ description: 'Older' }]);
  expect(await rolesCalled('other-clerk')).toEqual([]);
});

test('1 — with RIGHTS_DIR the single commands are refused, and those of users are not', async () => {
  const directory = await rightsDirectory({
    'roles/kept-clerk.yaml': clerk,
    'profiles/kept-sales.yaml': { label: 'Sales', roles: ['kept-clerk'] },
  });
  const { admin } = await withFiles(directory);
  for (const words of [
    ['role', 'create', 'more'],
    ['role', 'grant', 'kept-clerk', '--entity', 'order', '--actions', 'update'],
    ['role', 'revoke', 'kept-clerk', '--entity', 'order', '--actions', 'read'],
    ['role', 'delete', 'kept-clerk'],
    ['profile', 'create', 'more', '--label', 'M', '--roles', 'kept-clerk'],
    ['profile', 'update', 'kept-sales', '--label', 'M'],
    ['profile', 'delete', 'kept-sales'],
    ['attribute', 'set', 'user', 'more', '--schema', '{"type":"string"}'],
    ['attribute', 'remove', 'user', 'more'],
  ])
    expect(await admin.refusal(words)).toBe(
      'RIGHTS_DIR has the roles, profiles and attributes: change its files, and run "rights plan" and "rights apply"',
    );
  expect((await admin.run(['rights', 'status', directory])).stdout).toContain('as the files have them');
  await service().createUser('kim', null);
  expect(await admin.say(['user', 'profile', 'add', 'kim', 'kept-sales'])).toContain('kim has the profile kept-sales');
});

test('the start is refused with files that are no rights', async () => {
  const directory = await rightsDirectory({ 'profiles/p.yaml': { label: 'P', roles: ['nobody'] } });
  await expect(service().replica({ RIGHTS_DIR: directory })).rejects.toThrow('RIGHTS_DIR: profiles/p.yaml: /roles/0: This does not exist.');
});

test('the start is refused with a rule by which lists would be mostly empty, and not if one of the documents exists', async () => {
  const usual = { ...slowRuleLimits };
  onTestFinished(() => void Object.assign(slowRuleLimits, usual));
  Object.assign(slowRuleLimits, { entities: 900 });
  await sql`
    insert into entity (name, fields, created_by, updated_by)
    select 'item', jsonb_build_object('note', case when n <= 4 then 'rare' else 'usual' end), 'root', 'root' from generate_series(1, 1000) as n`.execute(
    service().db,
  );
  const grants = [{ entity: 'item', actions: ['read'], name: 'rare', filter: { note: 'rare' } }];
  const directory = await rightsDirectory({ 'roles/slow-clerk.yaml': { description: 'Slow', grants } });
  await expect(service().replica({ RIGHTS_DIR: directory })).rejects.toThrow(
    'RIGHTS_DIR: roles/slow-clerk.yaml: /grants/0/filter: This needs an index. The rule covers 0.4 % of the entities.',
  );
  expect(await rolesCalled('slow-clerk')).toEqual([]);
  await new AdminCommand(service().databaseUrl).say(['role', 'create', 'slow-clerk', '--description', 'Older']);
  const { replica } = await withFiles(directory);
  expect(replica.context.rightsFiles?.differences).toBe(1);
});
