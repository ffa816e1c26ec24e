/** Rules through references as administrators grant them, and after changes of types (rule 178). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();
let root: Call;
let admin: AdminCommand;
let directory: string;

const reference = { type: 'string', format: 'int64' };
const memberType = (...indexes: string[][]) => ({
  type: 'object',
  properties: { project: reference, user: { type: 'string' }, role: { type: 'string' } },
  additionalProperties: false,
  'x-references': { project: { to: 'project', onDelete: 'cascade' } },
  'x-index': indexes,
});
const projectType = {
  type: 'object',
  properties: { label: { type: 'string' }, parent: reference },
  additionalProperties: false,
  'x-references': { parent: { to: 'project' } },
};
const taskType = {
  type: 'object',
  properties: { project: reference, note: { type: 'string' } },
  additionalProperties: false,
  'x-references': { project: { to: 'project' } },
};

beforeAll(async () => {
  await declareType(service(), 'project', projectType);
  await declareType(service(), 'member', memberType(['project', 'user']));
  await declareType(service(), 'slow', { ...memberType(), title: 'slow' });
  await declareType(service(), 'task', taskType);
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  admin = new AdminCommand(service().databaseUrl);
  directory = await mkdtemp(join(tmpdir(), 'references-'));
  await admin.say(['role', 'create', 'binder']);
});
afterAll(() => rm(directory, { recursive: true }));

let files = 0;
/** The refusal of the rule by the command; undefined if it takes the rule. */
async function refusalOf(rule: unknown, ...more: string[]): Promise<string | undefined> {
  const file = join(directory, `${++files}.json`);
  await writeFile(file, JSON.stringify(rule));
  const words = ['role', 'grant', 'binder', '--entity', 'task', '--actions', 'read', '--rule', file, '--name', 'tested', ...more];
  const { code, stderr } = await admin.run(words);
  return code === 0 ? undefined : stderr;
}

const inProject = (filter: object) => ({ filter: { project: { $match: filter } } });
const some = (filter: object, by = 'member.project') => ({ $some: { [by]: filter } });

describe('a grant by a rule', () => {
  test('names references, fields behind them and variables that exist (check 14 of rights)', async () => {
    expect(await refusalOf(inProject({ label: 'x' }))).toBeUndefined();
    expect(await refusalOf(inProject(some({ user: { $var: 'user.name' } })))).toBeUndefined();
    expect(await refusalOf(inProject({ labl: 'x' }))).toContain('/filter/project/$match/labl: ');
    expect(await refusalOf({ filter: { note: { $match: {} } } })).toContain('/filter/note/$match: ');
    expect(await refusalOf(inProject(some({}, 'member.user')))).toContain('/filter/project/$match/$some/member.user: ');
    expect(await refusalOf(inProject(some({ user: { $var: 'user.nam' } })))).toMatch(/member.project\/user\/\$var: .*user\.name/);
  });

  test('needs the index of `$some`, with --allow-slow too (check 17 of rights)', async () => {
    const slow = inProject(some({ user: { $var: 'user.name' } }, 'slow.project'));
    for (const more of [[], ['--allow-slow']]) expect(await refusalOf(slow, ...more)).toMatch(/slow.project: .*\["project","user"\]/);
    expect(await refusalOf({ filter: { project: { $match: { $none: { 'slow.project': { user: 'x' } } } } } })).toContain(
      '["project","user"]',
    );
    expect(await refusalOf(inProject(some({}, 'slow.project')))).toBeUndefined();
  });

  test('looks through three references in a row, and has four of them and 20 tests', async () => {
    const parent = (filter: object) => ({ parent: { $match: filter } });
    expect(await refusalOf(inProject(parent(parent({ label: 'x' }))))).toBeUndefined();
    expect(await refusalOf(inProject(parent(parent(parent({ label: 'x' })))))).toContain('/parent/$match/parent/$match/parent/$match: ');
    const labels = (count: number) => ({ $and: Array.from({ length: count }, () => inProject({ label: 'x' }).filter) });
    expect(await refusalOf({ filter: labels(4) })).toBeUndefined();
    expect(await refusalOf({ filter: labels(5) })).toContain('4');
    const tests = (count: number) => ({ $or: Array.from({ length: count }, () => ({ label: 'x' })) });
    expect(await refusalOf(inProject(tests(19)))).toBeUndefined();
    expect(await refusalOf(inProject(tests(20)))).toContain('20');
  });

  test('has four references and 20 tests in filter and check together', async () => {
    const labels = (count: number) => ({ $and: Array.from({ length: count }, () => inProject({ label: 'x' }).filter) });
    const update = async (rule: object) => {
      const file = join(directory, `${++files}.json`);
      await writeFile(file, JSON.stringify(rule));
      const words = ['role', 'grant', 'binder', '--entity', 'task', '--actions', 'update', '--rule', file, '--name', 'both'];
      return await admin.run(words);
    };
    expect(await update({ filter: labels(2), check: labels(2) })).toMatchObject({ code: 0 });
    expect(await update({ filter: labels(2), check: labels(3) })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('4') as string,
    });
  });

  test('has no references on all names, and none of names without a type', async () => {
    const onName = async (entity: string, rule: object) => {
      const file = join(directory, `${++files}.json`);
      await writeFile(file, JSON.stringify(rule));
      return (await admin.run(['role', 'grant', 'binder', '--entity', entity, '--actions', 'read', '--rule', file])).stderr;
    };
    expect(await onName('*', { filter: some({ user: 'x' }) })).toContain('/filter/$some/member.project: ');
    expect(await onName('note', { filter: { project: { $match: {} } } })).toContain('/filter/project/$match: ');
  });
});

describe('a change of a type', () => {
  const made = async (name: string, fields: object) => {
    const { body, status, text } = await service().call<Entity>('POST', `/rest/entity/${name}`, { ...root, json: fields });
    expect(status, text).toBe(201);
    return body;
  };
  const read = async (who: Call, { key }: Entity) => (await service().call('GET', `/rest/entity/task/${key}`, who)).status;

  test('404 — a referenced type that no longer fits makes the rule cover nothing, until it fits again', async () => {
    const filter = { project: { $match: { $none: { 'member.project': { role: 'barred', user: { $var: 'user.name' } } } } } };
    const ada = await callerWith(service(), 'ada', [{ entity: 'task', actions: ['read'], rule: { filter } }]);
    const project = await made('project', { label: 'p' });
    const task = await made('task', { project: project.key });
    expect(await read(ada, task)).toBe(200);
    // Without its index, and without a field.
    await declareType(service(), 'member', memberType());
    expect(await read(ada, task)).toBe(404);
    await declareType(service(), 'member', memberType(['project', 'user']));
    expect(await read(ada, task)).toBe(200);
    const { user, ...properties } = memberType().properties;
    await declareType(service(), 'member', { ...memberType(), properties });
    expect(await read(ada, task)).toBe(404);
    await declareType(service(), 'member', { ...memberType(['user', 'role']), properties: { ...properties, user } });
    expect(await read(ada, task)).toBe(200);
    await made('member', { project: project.key, user: 'ada', role: 'barred' });
    expect(await read(ada, task)).toBe(404);
  });
});

describe('a variable that the caller lacks behind a reference (check 12 of rights)', () => {
  const teamOf = async (who: Call) => {
    const { body } = await service().call<{ user: { attributes: object } }>('GET', '/auth', who);
    return body.user.attributes;
  };
  const setTeam = (name: string) =>
    service()
      .db.updateTable('user_account')
      .set({ attributes: JSON.stringify({ team: 'blue' }) })
      .where('name', '=', name)
      .execute();
  const made = async (name: string, fields: object) => {
    const { body, status, text } = await service().call<Entity>('POST', `/rest/entity/${name}`, { ...root, json: fields });
    expect(status, text).toBe(201);
    return body.key;
  };

  test('covers only what each value would', async () => {
    await admin.say(['attribute', 'set', 'user', 'team', '--schema', '{"type":"string"}']);
    const probe = await callerWith(service(), 'probe', []);
    await setTeam('probe');
    await expect.poll(() => teamOf(probe)).toEqual({ team: 'blue' });
    const [alone, joined] = [await made('project', { label: 'alone' }), await made('project', { label: 'joined' })];
    await made('member', { project: joined, user: 'blue' });
    const team = { $var: 'user.team' };
    const colours = ['blue', 'red'];
    const by = (filter: object) => ({ 'member.project': filter });
    /** With the projects that it covers without a team, and with the team blue. */
    const rules: [object, string[], string[]][] = [
      [{ $some: by({ user: team }) }, [], [joined]],
      [{ $some: by({ user: { $in: colours, $ne: team } }) }, [], []],
      [{ $some: by({ user: { $in: colours }, $not: { user: team } }) }, [], []],
      [{ $not: { $some: by({ user: team }) } }, [alone], [alone]],
      [{ $none: by({ user: team }) }, [alone], [alone]],
      [{ $none: by({ user: { $in: colours, $ne: team } }) }, [alone], [alone, joined]],
      [{ $none: by({ user: { $in: colours }, $not: { user: team } }) }, [alone], [alone, joined]],
      [{ $not: { $none: by({ user: team }) } }, [], [joined]],
    ];
    for (const [index, [filter, missing, present]] of rules.entries()) {
      const name = `eve${index}`;
      const eve = await callerWith(service(), name, [{ entity: 'project', actions: ['read', 'delete'], rule: { filter } }]);
      const covered = async () => {
        const keys = [alone, joined];
        const statuses = await Promise.all(
          keys.map(async (key) => (await service().call('GET', `/rest/entity/project/${key}`, eve)).status),
        );
        const asked = encodeURIComponent(JSON.stringify({ $key: { $in: keys } }));
        const { body } = await service().call<{ items: Entity[] }>('GET', `/rest/entity/project?filter=${asked}`, eve);
        expect(keys.filter((_, at) => statuses[at] === 200)).toEqual(body.items.map(({ key }) => key));
        return body.items.map(({ key }) => key);
      };
      expect(await covered(), JSON.stringify(filter)).toEqual(missing);
      expect((await service().call('DELETE', `/rest/entity/project/${joined}`, eve)).status).toBe(404);
      await setTeam(name);
      await expect.poll(() => teamOf(eve)).toEqual({ team: 'blue' });
      expect(await covered(), JSON.stringify(filter)).toEqual(present);
    }
  });
});
