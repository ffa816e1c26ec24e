/** `rights plan` and `rights apply`: from files to the rights in force (check 32 of rights). */
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { announceProcess } from '../../src/database/processes.ts';
import { AdminCommand } from '../support/admin.ts';
import { declareType } from '../support/entities.ts';
import { rightsDirectory, writeRights } from '../support/rights-directory.ts';
import { useService } from '../support/service.ts';

interface PlanDocument {
  digest: string;
  effect: string;
  steps: { kind: string; path: string }[];
  profiles: { profile: string; people: number; keys: number; effects: { effect: string; kind: string; path: string; text: string }[] }[];
  attributes: { path: string; effect: string; unfit: number }[];
  locks: object[];
  changed?: boolean;
}

const service = useService();
let admin: AdminCommand;
let n = 0;
let role = '';
let profile = '';
let user = '';
const entity = 'order';

beforeAll(() => {
  admin = new AdminCommand(service().databaseUrl);
});
beforeEach(() => {
  n += 1;
  [role, profile, user] = [`role${n}`, `profile${n}`, `user${n}`];
});

const run = async (command: 'plan' | 'apply', directory: string, ...words: string[]) => {
  const { code, stdout, stderr } = await admin.run(['rights', command, directory, ...words, '--json']);
  return { code, stderr, document: JSON.parse(stdout) as PlanDocument };
};

/** The files of a role with the grants, and of its profile. */
const files = (grants: readonly object[], more: Record<string, unknown> = {}) => ({
  [`roles/${role}.yaml`]: { description: 'of the test', grants },
  [`profiles/${profile}.yaml`]: { label: 'Of the test', roles: [role] },
  ...more,
});

const any = (...actions: string[]) => ({ entity, actions });
const ruled = (actions: string[], rule: object, name = 'region') => ({ entity, actions, name, ...rule });

/** A directory whose rights are in force, and a user with its profile. */
async function inForce(grants: readonly object[], more: Record<string, unknown> = {}): Promise<{ directory: string; cookie: string }> {
  const directory = await rightsDirectory(files(grants, more));
  expect(await run('apply', directory)).toMatchObject({ code: 0, document: { effect: 'none', changed: true } });
  const { id } = await service().createUser(user, null);
  await admin.say(['user', 'profile', 'add', user, profile]);
  return { directory, cookie: await service().openSession(id) };
}

/** The plan after the role has got other grants: each effect with its kind, its grant and its text. */
async function effectsOf(directory: string, grants: readonly object[], more: Record<string, unknown> = {}) {
  await writeRights(directory, files(grants, more));
  const { code, document } = await run('plan', directory);
  const effects = document.profiles.flatMap((each) =>
    each.effects.map(({ effect, kind, path, text }) => [effect, kind, path.replace(`roles/${role}/${entity}/`, ''), text]),
  );
  return { code, effect: document.effect, effects, locks: document.locks };
}

const read = (cookie: string, key: string) => service().call<Record<string, unknown>>('GET', `/rest/entity/${entity}/${key}`, { cookie });

const eventsSince = (id: string) =>
  service().db.selectFrom('audit_event').where('id', '>', id).select(['event', 'detail']).orderBy('id').execute();
const lastEvent = async () =>
  (await service().db.selectFrom('audit_event').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())?.id ?? '0';

describe('rights apply', () => {
  test('0 — new rights are in force for the next request, in one transaction with their events (rule 85)', async () => {
    const from = await lastEvent();
    const rule = { filter: { region: { $in: { $var: `user.regions${n}` } } }, read: ['*', '-margin'] };
    const schema = { type: 'array', items: { type: 'string' } };
    const more = { 'attributes.yaml': { user: { [`regions${n}`]: schema } } };
    const { cookie, directory } = await inForce([any('create'), ruled(['read'], rule)], more);
    await admin.say(['user', 'update', user, '--attribute', `regions${n}=["north"]`]);
    const made = await service().call<{ key: string }>('POST', `/rest/entity/${entity}`, { cookie, json: { region: 'north', margin: 5 } });
    const other = await service().call<{ key: string }>('POST', `/rest/entity/${entity}`, { cookie, json: { region: 'south' } });
    expect([made.status, other.status]).toEqual([201, 201]);
    const shown = await read(cookie, made.body.key);
    expect([shown.status, shown.body['fields']]).toEqual([200, { region: 'north' }]);
    expect((await read(cookie, other.body.key)).status).toBe(404);

    const events = (await eventsSince(from)).filter(({ event }) => /^(role|profile|attribute|rights)\./.test(event));
    expect(events.map(({ event }) => event)).toEqual([
      'attribute.declared',
      'role.created',
      'profile.created',
      'rights.applied',
      'profile.assigned',
    ]);
    expect(events[1]?.detail).toMatchObject({
      by: 'administrator',
      via: 'cli',
      role,
      granted: [`${entity}/create any`, expect.stringMatching(`^${entity}/region/read [0-9a-f]{64}$`)],
      revoked: [],
    });
    expect(events[3]?.detail).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{64}$/), effect: 'none', steps: 3 });
    expect(await run('plan', directory)).toMatchObject({ code: 0, document: { steps: [] } });
    expect(await admin.say(['rights', 'apply', directory])).toBe('Nothing to do: the rights are in force as the files have them.\n');
  });

  test('1, 1, 0 — a plan that widens needs its digest, and no stale one; then there is nothing to do (check 32 of rights, rule 174)', async () => {
    const { directory, cookie } = await inForce([any('create')]);
    const { key } = (await service().call<{ key: string }>('POST', `/rest/entity/${entity}`, { cookie, json: { a: 1 } })).body;
    await writeRights(directory, files([any('create', 'read')]));
    const { code, document } = await run('plan', directory);
    expect([code, document.effect]).toEqual([4, 'widen']);
    const without = await admin.run(['rights', 'apply', directory]);
    expect([without.code, without.stderr]).toEqual([1, `error: this widens rights, or locks some: give --confirm ${document.digest}\n`]);
    expect(without.stdout).toContain(`effect: widen, needs --confirm ${document.digest}`);
    expect((await read(cookie, key)).status).toBe(403);
    // The same files, but other rights in force.
    await admin.say(['role', 'grant', role, '--entity', entity, '--actions', 'update']);
    const stale = await run('apply', directory, '--confirm', document.digest);
    expect([stale.code, stale.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: another plan was confirmed: give --confirm [0-9a-f]{64}\n$/),
    ]);
    expect((await read(cookie, key)).status).toBe(403);
    const right = await run('apply', directory, '--confirm', stale.document.digest);
    expect([right.code, right.document.changed]).toEqual([0, true]);
    expect((await read(cookie, key)).status).toBe(200);
    expect(await run('plan', directory)).toMatchObject({ code: 0, document: { effect: 'none', steps: [], profiles: [] } });
    // A digest of no plan is not needed any more.
    expect((await run('apply', directory, '--confirm', document.digest)).code).toBe(0);
  });

  test('0 — rights that only narrow need no digest, but one that is given has to be right', async () => {
    const { directory } = await inForce([any('read', 'update')]);
    const { id } = await service().createUser(`${user}-other`, null);
    await service().createProfile(id, `${profile}-other`, { [entity]: ['update'] });
    await writeRights(directory, files([any('read')]));
    expect(await run('apply', directory, '--confirm', 'f'.repeat(64))).toMatchObject({ code: 1, document: { effect: 'narrow' } });
    expect(await run('apply', directory)).toMatchObject({ code: 0, document: { effect: 'narrow', changed: true } });
  });

  test('1 — all or nothing: a profile that cannot be stored takes the roles with it (rule 174)', async () => {
    const schema = { type: 'string', format: 'int64', to: 'customer' };
    const directory = await rightsDirectory({
      ...files([any('read')]),
      'attributes.yaml': { profile: { [`customer${n}`]: schema } },
      [`profiles/${profile}.yaml`]: { label: 'P', roles: [role], attributes: { [`customer${n}`]: '4711' } },
    });
    const from = await lastEvent();
    expect(await admin.refusal(['rights', 'apply', directory])).toBe(
      `rights: profiles/${profile}.yaml: /attributes/customer${n}: There is no entity with this key.`,
    );
    expect(await service().db.selectFrom('role').where('name', '=', role).select('id').execute()).toEqual([]);
    expect(await eventsSince(from)).toEqual([]);
  });

  test('1 — rules wait for a process of an older version that cannot enforce them', async () => {
    const older = await announceProcess(service().db, '0.1.0');
    onTestFinished(() => older.withdraw());
    await service().db.updateTable('process').set({ knows: [] }).where('id', '=', older.id).execute();
    const directory = await rightsDirectory(files([ruled(['read'], { filter: { region: 'north' } })]));
    expect(await admin.refusal(['rights', 'apply', directory])).toContain(
      'Processes of an older version, which cannot enforce this right, still run',
    );
    expect(await service().db.selectFrom('role').where('name', '=', role).select('id').execute()).toEqual([]);
    await older.withdraw();
    expect((await run('apply', directory)).code).toBe(0);
  });

  test('0 — --prune deletes what has no file, but for profiles that somebody has and attributes in use', async () => {
    const directory = join(await rightsDirectory({}), 'all');
    await admin.say(['role', 'create', role]);
    await admin.say(['profile', 'create', profile, '--label', 'P', '--roles', role]);
    await admin.say(['attribute', 'set', 'user', `old${n}`, '--schema', '{"type":"string"}']);
    await admin.say(['rights', 'export', '--out', directory]);
    await admin.say(['profile', 'create', `${profile}-unused`, '--label', 'P', '--roles', role]);
    await admin.say(['role', 'create', `${role}-unused`]);
    await admin.say(['attribute', 'set', 'user', `unused${n}`, '--schema', '{"type":"string"}']);
    expect(await run('plan', directory)).toMatchObject({ code: 0 });
    const paths = [`attributes/user/unused${n}`, `roles/${role}-unused`, `profiles/${profile}-unused`];
    expect((await run('plan', directory, '--prune')).document.steps).toEqual(paths.map((path) => ({ kind: 'delete', path })));
    expect(await run('apply', directory, '--prune')).toMatchObject({ code: 0, document: { changed: true } });
    expect(await run('plan', directory, '--prune')).toMatchObject({ code: 0, document: { steps: [] } });
    await service().createUser(user, null);
    await admin.say(['profile', 'create', `${profile}-had`, '--label', 'P', '--roles', role]);
    await admin.say(['user', 'profile', 'add', user, `${profile}-had`]);
    expect(await admin.refusal(['rights', 'plan', directory, '--prune'])).toBe(
      `rights: profiles/${profile}-had: This is in use. Used by the users ${user}.`,
    );
  });
});

describe('effects', () => {
  const north = { filter: { region: 'north' } };

  test.each<[string, object[], object[], string[][]]>([
    ['a new grant', [any('create')], [any('create', 'read')], [['widen', 'grant', 'read', 'is new']]],
    [
      'a rule beside all rows',
      [any('read')],
      [any('read'), ruled(['read'], north)],
      [['none', 'grant', 'region/read', 'is new; another grant has all of it']],
    ],
    [
      'a rule with names beside all rows',
      [any('read')],
      [any('read'), ruled(['read'], { read: ['salary'] })],
      [['widen', 'grant', 'region/read', 'is new']],
    ],
    [
      'the end of a rule beside all rows',
      [any('read'), ruled(['read'], north)],
      [any('read')],
      [['none', 'grant', 'region/read', 'ends; another grant has all of it']],
    ],
    [
      'a rule in place of all rows',
      [any('read')],
      [ruled(['read'], north)],
      [
        ['narrow', 'grant', 'read', 'ends'],
        ['none', 'grant', 'region/read', 'is new; another grant has all of it'],
      ],
    ],
    [
      'one more test',
      [ruled(['read'], north)],
      [ruled(['read'], { filter: { region: 'north', state: 'open' } })],
      [['narrow', 'rows', 'region/read', 'fewer rows']],
    ],
    [
      'one test less',
      [ruled(['read'], { filter: { region: 'north', state: 'open' } })],
      [ruled(['read'], north)],
      [['widen', 'rows', 'region/read', 'more rows']],
    ],
    [
      'another test',
      [ruled(['read'], north)],
      [ruled(['read'], { filter: { region: 'south' } })],
      [['widen', 'rows', 'region/read', 'other rows']],
    ],
    [
      'a field less',
      [ruled(['read'], north)],
      [ruled(['read'], { ...north, read: ['*', '-margin'] })],
      [['narrow', 'fields', 'region/read', 'hidden: margin']],
    ],
    [
      'a field more',
      [ruled(['read'], { ...north, read: ['a'] })],
      [ruled(['read'], { ...north, read: ['a', 'b'] })],
      [['widen', 'fields', 'region/read', 'shown: b']],
    ],
    [
      'sensitive fields',
      [ruled(['read'], { ...north, read: ['*'] })],
      [ruled(['read'], { ...north, read: ['**'] })],
      [['widen', 'fields', 'region/read', 'shown: other fields']],
    ],
    [
      'fewer fields to write',
      [ruled(['update'], north)],
      [ruled(['update'], { ...north, write: ['note'] })],
      [['narrow', 'write', 'region/update', 'not writable any more: other fields']],
    ],
    [
      'a check beside the filter',
      [ruled(['update'], north)],
      [ruled(['update'], { ...north, check: { region: 'north', total: 1 } })],
      [['narrow', 'values', 'region/update', 'fewer values']],
    ],
    [
      'a preset',
      [ruled(['create'], { check: { a: 1 } })],
      [ruled(['create'], { check: { a: 1 }, set: { b: 2 } })],
      [['narrow', 'values', 'region/create', 'fewer values']],
    ],
    [
      'no preset any more',
      [ruled(['create'], { set: { b: 2 } })],
      [ruled(['create'], { check: {} })],
      [['widen', 'values', 'region/create', 'more values']],
    ],
  ])('%s', async (_, before, after, effects) => {
    const holder = await service().createUser(`holder${n}`, null);
    await service().createProfile(holder.id, `holder${n}`, { [entity]: ['create', 'read', 'update'] });
    const { directory } = await inForce(before);
    const planned = await effectsOf(directory, after);
    const widens = effects.some(([effect]) => effect === 'widen');
    expect(planned).toEqual({
      code: widens ? 4 : 3,
      effect: widens ? 'widen' : effects.some(([each]) => each === 'narrow') ? 'narrow' : 'none',
      effects,
      locks: [],
    });
  });

  test('an attribute of the profile that its rules name, and a type that rules name', async () => {
    const attribute = `level${n}`;
    const more = (schema: object, level?: number) => ({
      'attributes.yaml': { profile: { [attribute]: schema } },
      [`profiles/${profile}.yaml`]: { label: 'P', roles: [role], ...(level !== undefined && { attributes: { [attribute]: level } }) },
    });
    const grant = ruled(['read'], { filter: { level: { $var: `profile.${attribute}` } } });
    const { directory } = await inForce([grant], more({ type: 'number' }, 1));
    expect(await effectsOf(directory, [grant], more({ type: 'number' }, 2))).toMatchObject({
      code: 4,
      effects: [['widen', 'attribute', `profiles/${profile}/${attribute}`, 'has another value']],
    });
    expect(await effectsOf(directory, [grant], more({ type: 'number' }))).toMatchObject({
      code: 3,
      effects: [['narrow', 'attribute', `profiles/${profile}/${attribute}`, 'has no value any more']],
    });
    await writeRights(directory, files([grant], more({ type: 'string' })));
    const { code, document } = await run('plan', directory);
    expect([code, document.attributes]).toEqual([4, [{ path: `attributes/profile/${attribute}`, effect: 'widen', unfit: 1 }]]);
  });

  test('lock — no user is left who may do something, and a key loses all', async () => {
    const { directory } = await inForce([any('read', 'delete')]);
    await admin.say(['key', 'create', user, '--name', 'nightly', '--scope', `${entity}:delete`]);
    const planned = await effectsOf(directory, [any('read')]);
    expect(planned).toMatchObject({
      code: 4,
      effect: 'lock',
      locks: [
        { entity, action: 'delete' },
        { key: 'nightly', user },
      ],
    });
    const { stdout } = await admin.run(['rights', 'plan', directory]);
    expect(stdout).toContain(`lock  no user is left who may delete ${entity}\nlock  the key nightly of ${user} loses all its rights\n`);
    expect(stdout).toContain(`${profile}: 1 person, 1 key\n`);
  });
});

describe('rights that are refused', () => {
  test.each<[string, (name: string) => Record<string, unknown>, string]>([
    [
      'a field that the type lacks',
      (name) => ({ 'roles/a.yaml': { grants: [{ entity: name, actions: ['read'], name: 'x', filter: { regoin: 'a' } }] } }),
      'roles/a.yaml: /grants/0/filter/regoin: The type of the entity has no such field',
    ],
    [
      'a variable that is not declared',
      (name) => ({
        'roles/a.yaml': { grants: [{ entity: name, actions: ['read'], name: 'x', filter: { region: { $var: 'user.regoin' } } }] },
      }),
      'roles/a.yaml: /grants/0/filter/region/$var: There is no such variable.',
    ],
    [
      'a rule over references',
      (name) => ({ 'roles/a.yaml': { grants: [{ entity: name, actions: ['read'], name: 'x', filter: { region: { $fold: 'a' } } }] } }),
      'roles/a.yaml: /grants/0/filter/region/$fold: ',
    ],
    [
      'a role that does not exist',
      () => ({ 'profiles/p.yaml': { label: 'P', roles: ['nobody'] } }),
      'profiles/p.yaml: /roles/0: This does not exist. There is no role nobody.',
    ],
    [
      'an attribute that is not declared',
      () => ({ 'roles/a.yaml': { grants: [] }, 'profiles/p.yaml': { label: 'P', roles: ['a'], attributes: { lewel: 1 } } }),
      'profiles/p.yaml: /attributes/lewel: This name is not known here.',
    ],
    [
      'an attribute of another type',
      () => ({
        'attributes.yaml': { profile: { l: { type: 'number' } } },
        'roles/a.yaml': { grants: [] },
        'profiles/p.yaml': { label: 'P', roles: ['a'], attributes: { l: 'x' } },
      }),
      'profiles/p.yaml: /attributes/l: This value is of the wrong type.',
    ],
    [
      'nine rules',
      (name) => ({
        'roles/a.yaml': {
          grants: Array.from({ length: 9 }, (_, i) => ({ entity: name, actions: ['read'], name: `r${i}`, filter: { region: `${i}` } })),
        },
      }),
      'roles/a.yaml: The filter has too many tests. Maximum number: 8.',
    ],
  ])('1 — %s', async (_, content, line) => {
    const place = `typed${n}`;
    await declareType(service(), place, { properties: { region: { type: 'string' } }, additionalProperties: false });
    const directory = await rightsDirectory(content(place));
    for (const command of ['plan', 'apply']) expect(await admin.refusal(['rights', command, directory])).toContain(`rights: ${line}`);
  });
});
