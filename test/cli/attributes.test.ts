/** `attribute …`, and the attributes and time zones of users and profiles as commands set them. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { removeAttribute } from '../../src/administration/attributes/use-cases.ts';
import { undeclaredFields } from '../../src/filter/fields.ts';
import { grantByRule } from '../../src/administration/roles/use-cases.ts';
import { owner, useService } from '../support/service.ts';

const service = useService();
let admin: AdminCommand;
const texts = JSON.stringify({ type: 'array', items: { type: 'string' } });

const declare = (owner: string, name: string, schema: object | string, code = 0) => {
  const words = ['attribute', 'set', owner, name, '--schema', typeof schema === 'string' ? schema : JSON.stringify(schema)];
  return code === 0 ? admin.say(words) : admin.refusal(words, '', code);
};
const setting = (name: string, ...values: string[]) => ['user', 'update', name, ...values.flatMap((value) => ['--attribute', value])];
const attributesOf = async (name: string) => (await admin.json<{ attributes: object }>(['user', 'show', name])).attributes;
const lastEvent = () => service().db.selectFrom('audit_event').select(['event', 'detail']).orderBy('id', 'desc').executeTakeFirst();

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  await service().createUser('ada');
  await declare('user', 'regions', texts);
});

describe('attribute set, list and remove', () => {
  test('a declaration is shown and audited; the same again changes nothing', async () => {
    expect(await declare('profile', 'grade', { type: 'number' })).toBe('Declared the attribute grade of profiles.\n');
    const detail = { by: 'administrator', owner: 'profile', attribute: 'grade', schema: { type: 'number' } };
    expect(await lastEvent()).toMatchObject({ event: 'attribute.declared', detail });
    expect(await declare('profile', 'grade', { type: 'number' })).toBe('Unchanged: the attribute grade of profiles.\n');
    expect((await admin.say(['attribute', 'list'])).split('\n')[1]).toBe(`user     regions  ${texts}`);
    expect(await admin.json(['attribute', 'list'])).toContainEqual({ owner: 'profile', name: 'grade', schema: { type: 'number' } });
    expect(await admin.say(['attribute', 'remove', 'profile', 'grade'])).toBe(
      'Removed the attribute grade of profiles. 0 profiles had a value.\n',
    );
    expect(await lastEvent()).toMatchObject({ event: 'attribute.removed', detail: { owner: 'profile', attribute: 'grade', holders: 0 } });
    expect(await admin.refusal(['attribute', 'remove', 'profile', 'grade'])).toBe('profiles have no attribute called "grade"');
  });

  test('a removal takes the values too, so that a later declaration of the name begins without', async () => {
    await declare('user', 'team', { type: 'string' });
    await admin.say(setting('ada', 'team=blue'));
    expect(await attributesOf('ada')).toEqual({ team: 'blue' });
    expect(await admin.say(['attribute', 'remove', 'user', 'team'])).toContain('1 user had a value.');
    await declare('user', 'team', { type: 'string' });
    expect(await attributesOf('ada')).toEqual({});
  });

  test('in-use — what a rule uses stays, with its values, until no role has the rule', async () => {
    await declare('user', 'area', { type: 'string' });
    await admin.say(setting('ada', 'area=north'));
    const granted = {
      role: ['guide', 'ranger'],
      members: [{ filter: { area: { $var: 'user.area' } } }, { set: { area: { $var: 'user.area' } } }],
    };
    const file = join(await mkdtemp(join(tmpdir(), 'rule-')), 'rule.json');
    for (const [index, role] of granted.role.entries()) {
      await admin.say(['role', 'create', role]);
      await writeFile(file, JSON.stringify(granted.members[index]));
      const actions = index === 0 ? 'read' : 'create';
      await admin.say(['role', 'grant', role, '--entity', 'walk', '--actions', actions, '--name', 'area', '--rule', file]);
    }
    const removal = ['attribute', 'remove', 'user', 'area'];
    expect(await admin.refusal(removal)).toBe('Rules of these roles use it: guide, ranger. Change or revoke these rules first.');
    expect(await attributesOf('ada')).toEqual({ area: 'north' });
    await admin.say(['role', 'revoke', 'guide', '--entity', 'walk', '--actions', 'read', '--name', 'area']);
    expect(await admin.refusal(removal)).toContain('use it: ranger.');
    await admin.say(['role', 'delete', 'ranger']);
    expect(await admin.say(removal)).toContain('1 user had a value.');
  });

  test('in-use — a rule and the removal of its attribute at the same time: one of them is refused', async () => {
    await declare('user', 'zone', { type: 'string' });
    await admin.say(['role', 'create', 'scout']);
    const wanted = { entities: ['walk'], actions: ['read'] as const, name: 'zone', document: { filter: { zone: { $var: 'user.zone' } } } };
    const sources = {
      typeOf: async () => ({ revision: '0', fields: undeclaredFields }),
      companionOf: async () => undefined,
      variablesOfUsers: async () => [],
      // The rule is read while the attribute is there, which is then removed.
      variableTypes: async () => {
        const variables = { names: ['user.zone'], typeOf: () => 'string' as const };
        await removeAttribute(service().store, owner, { owner: 'user', name: 'zone' });
        return variables;
      },
    };
    const refused = grantByRule(service().store, owner, 'scout', { ...wanted, sources });
    await expect(refused).rejects.toMatchObject({ code: 'validation-failed', faults: [{ code: 'unknown-variable' }] });
    expect(await service().db.selectFrom('role_grant').where('entity', '=', 'walk').selectAll().execute()).toEqual([]);
  });

  test('another type tells how many values no longer fit', async () => {
    await declare('user', 'floor', { type: 'string' });
    await admin.say(setting('ada', 'floor=3'));
    const run = await admin.run(['attribute', 'set', 'user', 'floor', '--schema', '{"type":"number"}']);
    expect(run.stderr).toBe('note: 1 user has a value that is not of this type, and counts as missing\n');
    expect(await lastEvent()).toMatchObject({
      event: 'attribute.declared',
      detail: { schema: { type: 'number' }, before: { type: 'string' } },
    });
    await admin.say(setting('ada', 'floor=null'));
  });

  test.each([
    ['user', 'name', texts, 2, '"name" and "attributes" are reserved'],
    ['profile', 'attributes', texts, 2, '"name" and "attributes" are reserved'],
    ['user', 'a.b', texts, 2, 'Such a name has 1 to 64'],
    ['user', 'a'.repeat(65), texts, 2, 'Such a name has 1 to 64'],
    ['role', 'level', texts, 2, 'Allowed choices are user, profile'],
    ['user', 'level', '{"type":', 2, 'JSON'],
    ['user', 'level', { type: 'array', items: { type: 'integer' } }, 1, 'schema.items.type: '],
  ] as const)('%s %s %j ends with %i: %s', async (owner, name, schema, code, message) => {
    expect(await declare(owner, name, schema, code)).toContain(message);
  });

  test('a name of 64 characters can be declared', async () => {
    expect(await declare('user', 'a'.repeat(64), texts)).toContain('Declared');
    await admin.say(['attribute', 'remove', 'user', 'a'.repeat(64)]);
  });
});

describe('user update --attribute', () => {
  test('sets, changes and removes values; the event has their names, and the values before and after', async () => {
    await declare('user', 'level', { type: 'number' });
    expect(await admin.say(setting('ada', 'regions=["north"]', 'level=2'))).toBe('Changed ada.\n');
    expect(await attributesOf('ada')).toEqual({ regions: ['north'], level: 2 });
    await admin.say(setting('ada', 'regions=["south"]', 'level=2'));
    const detail = { attributes: ['regions'], before: { regions: ['north'] }, after: { regions: ['south'] } };
    expect(await lastEvent()).toMatchObject({ event: 'user.updated', detail });
    expect(await admin.say(setting('ada', 'regions=["south"]'))).toBe('Unchanged: ada.\n');
    expect(await admin.say(['user', 'show', 'ada'])).toContain('ATTRIBUTES    level=2 regions=["south"]\n');
    await admin.say(setting('ada', 'regions=null', 'level=null'));
    expect(await attributesOf('ada')).toEqual({});
    expect(await lastEvent()).toMatchObject({
      detail: { before: { level: 2, regions: ['south'] }, after: { level: null, regions: null } },
    });
  });

  test('a text needs no quotes, also one of digits; a list is JSON', async () => {
    await declare('user', 'code', { type: 'string' });
    await admin.say(setting('ada', 'code=007'));
    expect(await attributesOf('ada')).toEqual({ code: '007' });
    await admin.say(setting('ada', 'code="a=\\"b\\""'));
    expect(await attributesOf('ada')).toEqual({ code: 'a="b"' });
    expect(await admin.refusal(setting('ada', 'regions=north'), '', 2)).toContain('the value of the attribute "regions" is no JSON');
    expect(await admin.refusal(setting('ada', 'code'), '', 2)).toContain('Give a name, "=" and a value');
    await admin.say(setting('ada', 'code=null'));
  });

  test('each fault is named, and then nothing changes', async () => {
    const refusal = await admin.refusal(setting('ada', 'regions=["north",1]', 'regoins=["north"]', 'level="2"'));
    expect(refusal).toMatch(/attributes\.regoins: This name is not known here\..* Write regions instead\./);
    expect(refusal).toContain('attributes.regions.1: ');
    expect(refusal).toContain('attributes.level: ');
    expect(await attributesOf('ada')).toEqual({});
  });

  test('the key of an entity is accepted if there is one of that name', async () => {
    const cookie = await service().openSession((await service().createUser('writer', { customer: ['create'], other: ['create'] })).id);
    const create = async (name: string) =>
      (await service().call<{ key: string }>('POST', `/rest/entity/${name}`, { cookie, json: {} })).body.key;
    const [customer, other] = [await create('customer'), await create('other')];
    const key = { type: 'string', format: 'int64', to: 'customer' };
    await declare('user', 'customer', key);
    await declare('user', 'customers', { type: 'array', items: key });
    await admin.say(setting('ada', `customer=${customer}`, `customers=["${customer}"]`));
    expect(await admin.refusal(setting('ada', `customer=${other}`))).toBe('attributes.customer: There is no entity with this key.');
    const second = await admin.refusal(setting('ada', `customers=["${customer}","${other}"]`));
    expect(second).toBe('attributes.customers.1: There is no entity with this key.');
    await admin.say(setting('ada', 'customer=null', 'customers=null'));
  });

  test('a user has 30 attributes and 4 KiB of them at most', async () => {
    await service().createUser('full', null);
    const names = Array.from({ length: 31 }, (_, index) => `a${index}`);
    const rows = names.map((name) => ({ owner: 'user' as const, name, schema: '{"type":"string"}' }));
    await service().db.insertInto('attribute').values(rows).execute();
    const values = names.map((name) => `${name}=x`);
    expect(await admin.refusal(setting('full', ...values))).toMatch(/^attributes: There are too many values.* 30\.$/);
    expect(await admin.say(setting('full', ...values.slice(1)))).toBe('Changed full.\n');
    await service().createUser('long', null);
    // With its name, quotes and braces each has 8 bytes around the value, and a comma between.
    const long = (last: number) => ['a0', 'a1', 'a2', 'a3'].map((name) => `${name}=${'x'.repeat(1_000)}`).concat(`a4=${'x'.repeat(last)}`);
    const around = JSON.stringify({ a0: '', a1: '', a2: '', a3: '', a4: '' }).length;
    expect(await admin.refusal(setting('long', ...long(4_097 - around - 4_000)))).toMatch(/^attributes: This is too long\./);
    expect(await admin.say(setting('long', ...long(4_096 - around - 4_000)))).toBe('Changed long.\n');
    await service().db.deleteFrom('attribute').where('name', 'in', names).execute();
  });
});

describe('user update --time-zone', () => {
  const zoneOf = async () => (await admin.json<{ timeZone: string | null }>(['user', 'show', 'ada'])).timeZone;

  test('takes a name of the IANA database in any case; none clears it', async () => {
    expect(await admin.say(['user', 'update', 'ada', '--time-zone', 'europe/berlin'])).toBe('Changed ada.\n');
    expect(await lastEvent()).toMatchObject({ event: 'user.updated', detail: { timeZone: 'Europe/Berlin' } });
    expect(await zoneOf()).toBe('Europe/Berlin');
    expect(await admin.say(['user', 'update', 'ada', '--time-zone', 'Europe/Berlin'])).toBe('Unchanged: ada.\n');
    await admin.say(['user', 'update', 'ada', '--time-zone', 'none']);
    expect(await zoneOf()).toBeNull();
  });

  test.each(['Europe/Berln', '+01:00', 'posix/Europe/Berlin', 'localtime', "UTC'"])('%s is refused', async (zone) => {
    expect(await admin.refusal(['user', 'update', 'ada', '--time-zone', zone], '', 2)).toContain('Give the name of a time zone');
  });
});

test('profile update --attribute sets values of profiles, and the event has their names alone', async () => {
  await declare('profile', 'level', { type: 'number' });
  await service().createUser('bob', null);
  await admin.say(['role', 'create', 'clerk']);
  await admin.say(['profile', 'create', 'sales', '--label', 'Sales', '--roles', 'clerk']);
  expect(await admin.say(['profile', 'update', 'sales', '--attribute', 'level=2'])).toBe('Changed the profile sales.\n');
  const event = await lastEvent();
  expect(event).toMatchObject({ event: 'profile.updated', detail: { profile: 'sales', attributes: ['level'] } });
  expect(Object.keys(event?.detail ?? {})).not.toContain('after');
  expect(await admin.say(['profile', 'list'])).toMatch(/^sales +Sales +clerk +- +level=2$/m);
  expect(await admin.say(['profile', 'update', 'sales', '--attribute', 'level=2'])).toBe('Unchanged: the profile sales.\n');
  expect(await admin.refusal(['profile', 'update', 'sales', '--attribute', 'regions=["north"]'])).toContain('attributes.regions: ');
  await admin.say(['profile', 'update', 'sales', '--attribute', 'level=null']);
  expect(await admin.json(['profile', 'list'])).toContainEqual(expect.objectContaining({ name: 'sales', attributes: {} }));
});
