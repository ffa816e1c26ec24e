/** Warnings of `rights plan`: rules that people could make cover more for themselves. */
import { beforeAll, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { rightsDirectory } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;

beforeAll(async () => {
  const reference = { type: 'string', format: 'int64' };
  const text = { type: 'string' };
  await declareType(service(), 'project', { type: 'object', properties: { label: text } });
  await declareType(service(), 'member', {
    type: 'object',
    properties: { project: reference, user: text },
    'x-references': { project: { to: 'project' } },
    'x-index': [['project', 'user']],
  });
  admin = new AdminCommand(service().databaseUrl);
});

const byMembership = {
  entity: 'project',
  name: 'members',
  actions: ['read', 'update'],
  filter: { $some: { 'member.project': { user: { $var: 'user.name' } } } },
  write: ['label'],
};

async function warningsWith(...grants: object[]) {
  const directory = await rightsDirectory({
    'roles/team.yaml': { description: '', grants: [byMembership, ...grants] },
    'profiles/team.yaml': { label: 'Team', roles: ['team'] },
  });
  const { stdout } = await admin.run(['rights', 'plan', directory, '--json']);
  const text = (await admin.run(['rights', 'plan', directory])).stdout;
  return { warnings: (JSON.parse(stdout) as { warnings: object[] }).warnings, text };
}

test.each([
  ['any', { entity: 'member', actions: ['create'] }],
  ['every name', { entity: '*', actions: ['create'] }],
  ['own', { entity: 'member', actions: ['create'], filter: { $createdBy: { $var: 'user.name' } } }],
  ['a rule without a check', { entity: 'member', actions: ['create'], name: 'made', set: { user: 'x' } }],
])('a rule reads entities that the profile may create without a check: %s', async (_, grant) => {
  const { warnings, text } = await warningsWith(grant);
  const path = (action: string) => ({ profile: 'team', path: `roles/team/project/members/${action}`, reads: 'member' });
  expect(warnings).toEqual([path('read'), path('update')]);
  expect(text).toContain(
    'warning  roles/team/project/members/read reads member, which people with the profile team may create without a check\n',
  );
});

test('a profile that writes needs a right to read, and one that refers label or read of the target, or the plan warns', async () => {
  const member = (...actions: string[]) => ({ entity: 'member', actions });
  const project = (...actions: string[]) => ({ entity: 'project', actions });
  const warned = async (...grants: object[]) => {
    const directory = await rightsDirectory({
      'roles/team.yaml': { description: '', grants },
      'profiles/team.yaml': { label: 'Team', roles: ['team'] },
    });
    const { warnings } = JSON.parse((await admin.run(['rights', 'plan', directory, '--json'])).stdout) as { warnings: { lacks: string }[] };
    const { stdout } = await admin.run(['rights', 'plan', directory]);
    for (const { lacks } of warnings) expect(stdout).toContain(`warning  the profile team ${lacks}\n`);
    return warnings.map(({ lacks }) => lacks);
  };
  const unreferred = 'writes member, which refers to project, without `label` or `read` of it';
  expect(await warned(member('read', 'update'), project('label'))).toEqual([]);
  expect(await warned(member('create'), project('read'))).toEqual([]);
  expect(await warned(member('read', 'update'))).toEqual([unreferred]);
  expect(await warned(member('create'))).toEqual([unreferred]);
  expect(await warned(member('update'), project('label'))).toEqual(['updates member without `read`']);
});

test('no warning without a right to create, with a check, or for other entities', async () => {
  expect((await warningsWith()).warnings).toEqual([]);
  expect((await warningsWith({ entity: 'member', actions: ['create'], name: 'lead', check: { user: 'root' } })).warnings).toEqual([]);
  expect((await warningsWith({ entity: 'project', actions: ['create'] })).warnings).toEqual([]);
  expect((await warningsWith({ entity: 'member', actions: ['read', 'update'] })).warnings).toEqual([]);
});
