import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { RoleState } from '../../src/accounts/roles.ts';
import { announceProcess } from '../../src/database/processes.ts';
import { digestOfRule } from '../../src/rights/rule-document.ts';
import { AdminCommand } from '../support/admin.ts';
import { useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;
let directory: string;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  directory = await mkdtemp(join(tmpdir(), 'rules-'));
});

afterAll(() => rm(directory, { recursive: true }));

const north = { filter: { region: 'north' } };
const south = { filter: { region: 'south' } };

let files = 0;

/** The words of a grant by the rule. */
async function grantOf(role: string, actions: string, rule: unknown, ...more: string[]): Promise<string[]> {
  files += 1;
  const file = join(directory, `${files}.json`);
  await writeFile(file, JSON.stringify(rule));
  return ['role', 'grant', role, '--entity', 'order', '--actions', actions, '--rule', file, ...more];
}

const revokeOf = (role: string, actions: string, ...more: string[]) => [
  'role',
  'revoke',
  role,
  '--entity',
  'order',
  '--actions',
  actions,
  ...more,
];

/** The details of the events of the role's grants. */
async function eventsOf(role: string): Promise<unknown[][]> {
  const rows = await service()
    .db.selectFrom('audit_event')
    .where('event', 'in', ['role.granted', 'role.revoked'])
    .select(['event', 'detail'])
    .orderBy('id')
    .execute();
  return rows.flatMap(({ event, detail }) => (detail['role'] === role ? [[event, detail['actions'], detail['name'], detail['rule']]] : []));
}

describe('role grant --rule', () => {
  test('grants by the rule, which role list and GET /auth show', async () => {
    await admin.say(['role', 'create', 'clerk']);
    const document = { read: ['*', '-margin'], filter: { region: 'north' }, write: ['note'] };
    expect(await admin.say(await grantOf('clerk', 'read,update', document, '--name', 'region'))).toBe(
      'The role clerk grants read, update on order by the rule region.\n',
    );
    const role = (await admin.json<RoleState[]>(['role', 'list'])).find(({ name }) => name === 'clerk');
    const shown = {
      name: 'region',
      entity: 'order',
      actions: ['read', 'update'],
      filter: { region: 'north' },
      read: ['*', '-margin'],
      write: ['note'],
    };
    expect(role).toEqual({ name: 'clerk', description: '', grants: [], rules: [shown] });
    expect(await admin.say(['role', 'list'])).toMatch(/^clerk +order +read,update +rule region$/m);
    expect(await eventsOf('clerk')).toEqual([['role.granted', ['read', 'update'], 'region', digestOfRule(document)]]);
    await admin.say(['profile', 'create', 'clerks', '--label', 'Clerks', '--roles', 'clerk']);
    await service().createUser('cleo', null);
    await admin.say(['user', 'profile', 'add', 'cleo', 'clerks']);
    const { body } = await service().call<{ roles: unknown[] }>('GET', '/auth?roles=1', { cookie: await service().signIn('cleo') });
    expect(body.roles).toEqual([role]);
  });

  test('counts for the next request on every replica, and so does its removal (rules 62 and 170)', async () => {
    const other = await service().replica();
    onTestFinished(() => other.stop());
    await service().createUser('root', undefined);
    const root = await service().signIn('root');
    const create = async (region: string) => {
      const { headers } = await service().call('POST', '/rest/entity/order', { cookie: root, json: { region } });
      return headers.get('location')?.split('/').at(-1) ?? '';
    };
    const [ofNorth, ofSouth] = [await create('north'), await create('south')];
    const { id } = await service().createUser('nora', { other: ['read'] });
    const key = await service().createKey(id);
    const cookie = await service().signIn('nora');
    const statuses = async () => {
      const calls = [service(), other].flatMap((replica) =>
        [ofNorth, ofSouth].flatMap((entity) =>
          [{ cookie }, { headers: { 'x-api-key': key } }].map((credential) =>
            replica.call('GET', `/rest/entity/order/${entity}`, credential),
          ),
        ),
      );
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    const [none, some, others] = [
      [403, 403, 403, 403],
      [200, 200, 404, 404],
      [404, 404, 200, 200],
    ];
    expect(await statuses()).toEqual([...none, ...none]);
    await admin.say(await grantOf('nora', 'read', north, '--name', 'mine'));
    expect(await statuses()).toEqual([...some, ...some]);
    await admin.say(await grantOf('nora', 'read', south, '--name', 'mine'));
    expect(await statuses()).toEqual([...others, ...others]);
    await admin.say(revokeOf('nora', 'read', '--name', 'mine'));
    expect(await statuses()).toEqual([...none, ...none]);
  });

  test('follows the type: a rule whose field is gone allows nothing from the next request on (rule 170)', async () => {
    const put = async (properties: object) => {
      const file = join(directory, 'parcel.json');
      await writeFile(file, JSON.stringify({ type: 'object', properties, additionalProperties: false }));
      await admin.say(['types', 'apply', file]);
    };
    await put({ region: { type: 'string' } });
    const { id } = await service().createUser('paul', { parcel: ['create'] });
    const headers = { 'x-api-key': await service().createKey(id) };
    await admin.say((await grantOf('paul', 'read', north)).map((word) => (word === 'order' ? 'parcel' : word)));
    const made = await service().call('POST', '/rest/entity/parcel', { headers, json: { region: 'north' } });
    const key = made.headers.get('location')?.split('/').at(-1) ?? '';
    const read = async () => (await service().call('GET', `/rest/entity/parcel/${key}`, { headers })).status;
    expect(await read()).toBe(200);
    await service().db.deleteFrom('entity').where('name', '=', 'parcel').execute();
    await put({ area: { type: 'string' } });
    const later = await service().call('POST', '/rest/entity/parcel', { headers, json: { area: 'north' } });
    const second = later.headers.get('location')?.split('/').at(-1) ?? '';
    expect(await service().call('GET', `/rest/entity/parcel/${second}`, { headers })).toMatchObject({ status: 404 });
  });

  test('takes YAML, from standard input too, and calls a rule after its digest', async () => {
    await admin.say(['role', 'create', 'piped']);
    const words = ['role', 'grant', 'piped', '--entity', 'order', '--actions', 'read', '--rule', '-'];
    const granted = await admin.run([...words, '--json'], 'filter:\n  region: north\n');
    const name = digestOfRule(north).slice(0, 12);
    expect((JSON.parse(granted.stdout) as RoleState).rules).toEqual([{ name, entity: 'order', actions: ['read'], ...north }]);
    expect((await admin.run(words, JSON.stringify(north))).stdout).toContain('granted read on order by the rule already');
    expect((await admin.run(words, 'filter: {total: 12345678901234567890}')).stderr).toContain('has too many digits');
    expect((await admin.run(words, '{"filter": {}, "filter": {}}')).stderr).toContain('- cannot be read: /filter');
  });

  test('is refused with every fault and its pointer, and changes nothing', async () => {
    await admin.say(['role', 'create', 'faulty']);
    const faulty = { filter: { customer: { $fold: 'x' } }, wirte: ['note'] };
    expect(await admin.refusal(await grantOf('faulty', 'read', faulty))).toBe(
      'the rule cannot be granted on order: /filter/customer/$fold: The service does not support this here.; ' +
        '/wirte: This name is not known here. Check its spelling or remove it. Expected: one of filter, read.',
    );
    expect(await admin.refusal(await grantOf('faulty', 'read', { filter: { region: { $var: 'user.regoin' } } }))).toContain(
      '/filter/region/$var: There is no such variable. Check its spelling. Expected: one of user.name, profile.name',
    );
    expect(await admin.json(['role', 'list'])).toContainEqual({ name: 'faulty', description: '', grants: [], rules: [] });
  });

  test('replaces the rule of its name, if all actions of the name are granted anew', async () => {
    await admin.say(['role', 'create', 'anew']);
    await admin.say(await grantOf('anew', 'read,update', north, '--name', 'mine'));
    expect(await admin.refusal(await grantOf('anew', 'read', south, '--name', 'mine'))).toContain(
      'the role has a rule called "mine" already',
    );
    expect(await admin.refusal(await grantOf('anew', 'read', north, '--name', 'yours'))).toContain(
      'the role has a rule called "mine" already',
    );
    await admin.say(await grantOf('anew', 'read,update,delete', south, '--name', 'mine'));
    const [before, after] = [digestOfRule(north), digestOfRule(south)];
    expect(await eventsOf('anew')).toEqual([
      ['role.granted', ['read', 'update'], 'mine', before],
      ['role.revoked', ['read', 'update'], 'mine', before],
      ['role.granted', ['read', 'update', 'delete'], 'mine', after],
    ]);
  });

  test('has a condition or a rule, and a name with a rule alone', async () => {
    const grant = await grantOf('clerk', 'read', north);
    const usage = async (words: string[]) => {
      const { code, stderr } = await admin.run(words);
      return [code, stderr];
    };
    expect(await usage([...grant, '--condition', 'own'])).toEqual([2, 'error: a grant has a --condition or a --rule, and not both\n']);
    expect(await usage(await grantOf('clerk', 'type', north))).toMatchObject([2, expect.stringContaining('grant it without --rule')]);
    expect(await usage(['role', 'grant', 'clerk', '--entity', 'order', '--actions', 'read', '--name', 'x'])).toMatchObject([
      2,
      expect.stringContaining('give --rule too'),
    ]);
  });
});

describe('a right that a plain grant and a rule give', () => {
  test('is noted when it is granted, and revoked by name, or with --plain', async () => {
    await admin.say(['role', 'create', 'both']);
    await admin.say(await grantOf('both', 'read', north, '--name', 'mine'));
    const plain = ['role', 'grant', 'both', '--entity', 'order', '--actions', 'read,update'];
    expect((await admin.run(plain)).stderr).toBe('note: the rules of the role stay beside it: mine of order\n');
    expect((await admin.run(await grantOf('both', 'update', south, '--name', 'other'))).stderr).toContain(
      'the role grants it on any row of order besides, so the rule narrows nothing',
    );
    expect(await admin.refusal(revokeOf('both', 'read'))).toBe(
      'the role "both" grants this by rules too: mine; name one with --name, or take the rest alone with --plain',
    );
    await admin.say(revokeOf('both', 'read,update', '--plain'));
    const role = (await admin.json<RoleState[]>(['role', 'list'])).find(({ name }) => name === 'both');
    expect([role?.grants, role?.rules.map(({ name }) => name)]).toEqual([[], ['mine', 'other']]);
    await admin.say(revokeOf('both', 'read', '--name', 'mine'));
    expect(await admin.say(revokeOf('both', 'read', '--name', 'mine'))).toBe('The role both did not grant read on order.\n');
    expect(await admin.refusal(revokeOf('both', 'update'))).toContain('by rules too: other');
    expect(await admin.say(revokeOf('both', 'read'))).toBe('The role both did not grant read on order.\n');
  });
});

describe('more than eight rules for one action on one name', () => {
  const rule = (region: string) => ({ filter: { region } });

  async function withRules(role: string, count: number): Promise<void> {
    await admin.say(['role', 'create', role]);
    for (let n = 0; n < count; n++) await admin.say(await grantOf(role, 'read', rule(`${role} ${n}`), '--name', `${n}`));
  }

  test('are refused in a role, those on all names included', async () => {
    await withRules('many', 7);
    const envelope = (await grantOf('many', 'read', { filter: { $createdBy: { $var: 'user.name' } } })).map((word) =>
      word === 'order' ? '*' : word,
    );
    await admin.say(envelope);
    const ninth = await grantOf('many', 'read', rule('ninth'), '--name', 'ninth');
    expect(await admin.refusal(ninth)).toBe('the role "many" would have more than 8 rules for read order');
    await admin.say(await grantOf('many', 'update', rule('ninth'), '--name', 'ninth'));
  });

  test('are refused in a profile: when it gets a role, and when its role gets a rule', async () => {
    await withRules('five', 5);
    await withRules('four', 4);
    await withRules('three', 3);
    await admin.say(['profile', 'create', 'eight', '--label', 'Eight', '--roles', 'five,three']);
    const refusal = (profile: string) => `the profile "${profile}" would have more than 8 rules for read order`;
    expect(await admin.refusal(['profile', 'create', 'nine', '--label', 'Nine', '--roles', 'five,four'])).toBe(refusal('nine'));
    expect(await admin.refusal(['profile', 'update', 'eight', '--roles', 'five,four'])).toBe(refusal('eight'));
    expect(await admin.refusal(await grantOf('three', 'read', rule('more')))).toBe(refusal('eight'));
    // The same rule in another role is no other rule.
    await admin.say(await grantOf('three', 'read', rule('five 0'), '--name', 'shared'));
  });
});

test.each([
  ['rule', () => grantOf('waiting', 'read', north)],
  ['label', async () => ['role', 'grant', 'waiting', '--entity', 'order', '--actions', 'label']],
])('older-version — a %s is granted when processes that do not know it have ended, or by --force', async (_right, words) => {
  await admin.run(['role', 'create', 'waiting']);
  const older = await announceProcess(service().db, '0.1.0');
  onTestFinished(() => older.withdraw());
  await service().db.updateTable('process').set({ knows: [] }).where('version', '=', '0.1.0').where('id', '=', older.id).execute();
  const refused = await admin.refusal(await words());
  expect(refused).toMatch(
    /^Processes of an older version, which cannot enforce this right, still run: \S+ process \d+ \(version 0\.1\.0\)\. /,
  );
  expect((await admin.run([...(await words()), '--force'])).code).toBe(0);
  await older.withdraw();
  expect((await admin.run(await words())).code).toBe(0);
});
