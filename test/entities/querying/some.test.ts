/** Filters that look for the entities that refer to the listed ones: `$some` and `$none`. */
import { beforeAll, describe, expect, test } from 'vitest';
import { matchLimits } from '../../../src/entities/querying/match.ts';
import { declareType } from '../../support/entities.ts';
import { faultsIn, list, queryBy, seedMany, type ListQuery } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';
import { createCaller } from '../../support/shop.ts';

const service = useService();
let ada: { cookie: string };
let projects: string[];

const text = { type: 'string' };
const key = { type: 'string', format: 'int64' };
const toProject = { project: { to: 'project', onDelete: 'cascade' } };

beforeAll(async () => {
  ada = await createCaller(service(), 'ada');
  await service().createUser('bob');
  await declareType(service(), 'project', {
    type: 'object',
    additionalProperties: false,
    properties: { name: text, parent: key },
    'x-references': { parent: { to: 'project' } },
  });
  projects = await seedMany(service(), 'project', [{ name: 'P0' }, { name: 'P1' }, { name: 'P2' }, { name: 'P3' }], 'ada');
  await declareType(service(), 'member', {
    type: 'object',
    additionalProperties: false,
    properties: { project: key, user: text, role: text, since: { type: 'string', format: 'date' } },
    'x-references': toProject,
    'x-index': [['project', 'user'], ['role'], ['project', 'since']],
  });
  await declareType(service(), 'guest', {
    type: 'object',
    additionalProperties: false,
    properties: { project: key, user: text, day: { type: 'string', format: 'date' } },
    'x-references': toProject,
  });
  await declareType(service(), 'task', {
    type: 'object',
    additionalProperties: false,
    properties: { title: text, project: key },
    'x-references': toProject,
  });
  const [p0, p1, p2] = projects;
  await seedMany(
    service(),
    'member',
    [
      { project: p0, user: 'ada', role: 'lead', since: '2026-01-01' },
      { project: p1, user: 'bob', role: 'lead', since: '2026-02-01' },
      { project: p0, user: 'bob', role: 'guest', since: '2026-03-01' },
      { project: p2, user: 'ada', role: 'guest', since: '2026-03-01' },
      { project: p0, user: 'eve', role: 'guest' },
      { user: 'ada', role: 'lead' },
    ],
    'ada',
    'bob',
  );
  await seedMany(
    service(),
    'task',
    projects.map((project, index) => ({ title: `T${index}`, project })),
    'ada',
  );
});

const valuesBy = async (field: string, name: string, query: ListQuery, caller = ada) => {
  const answer = await list(service(), caller, name, query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items.map(({ fields }) => fields[field]);
};
const namesBy = (filter: unknown, caller = ada) => valuesBy('name', 'project', { filter }, caller);
const faultsOf = async (name: string, filter: unknown, caller = ada) => {
  const answer = await list<ProblemBody>(service(), caller, name, { filter });
  expect(answer.status, answer.text).toBe(422);
  return faultsIn(answer);
};

/** Runs `check` as referring entities are few, whose keys are found first, and as they are too many. */
async function bothWays(check: () => Promise<void>): Promise<void> {
  await check();
  const usual = matchLimits.keys;
  matchLimits.keys = 0;
  await check().finally(() => (matchLimits.keys = usual));
}

describe('$some and $none', () => {
  test.each([
    { some: { user: 'ada' }, names: ['P0', 'P2'] },
    { some: { user: { $var: 'user.name' } }, names: ['P0', 'P2'] },
    { some: { user: 'ada', role: 'lead' }, names: ['P0'] },
    { some: { role: 'lead' }, names: ['P0', 'P1'] },
    { some: { user: { $in: ['bob', 'eve'] } }, names: ['P0', 'P1'] },
    { some: { $or: [{ user: 'bob' }, { user: 'eve' }], role: { $ne: 'guest' } }, names: ['P1'] },
    { some: { since: { $gte: '2026-02-01' } }, names: ['P0', 'P1', 'P2'] },
    { some: {}, names: ['P0', 'P1', 'P2'] },
    { some: { user: 'nobody' }, names: [] },
    { some: { project: { $match: { name: 'P1' } }, role: 'lead' }, names: ['P1'] },
  ])('200 — finds projects by their members: $some', async ({ some, names }) => {
    await bothWays(async () => {
      expect(await namesBy({ $some: { 'member.project': some } })).toEqual(names);
      const others = ['P0', 'P1', 'P2', 'P3'].filter((name) => !names.includes(name));
      expect(await namesBy({ $none: { 'member.project': some } })).toEqual(others);
      expect(await namesBy({ $not: { $some: { 'member.project': some } } })).toEqual(others);
    });
  });

  test('200 — tasks of the projects whose member the caller is', async () => {
    const filter = { project: { $match: { $some: { 'member.project': { user: { $var: 'user.name' } } } } } };
    const bob = { cookie: await service().openSession((await service().createUser('robert')).id) };
    await bothWays(async () => {
      expect(await valuesBy('title', 'task', { filter })).toEqual(['T0', 'T2']);
      expect(await valuesBy('title', 'task', { filter }, bob)).toEqual([]);
    });
  });

  test('200 — follows a member that is deleted at once', async () => {
    const [created] = await seedMany(service(), 'member', [{ project: projects[3], user: 'zoe' }], 'ada');
    const filter = { $some: { 'member.project': { user: 'zoe' } } };
    expect(await namesBy(filter)).toEqual(['P3']);
    await service().call('DELETE', `/rest/entity/member/${created}`, ada);
    expect(await namesBy(filter)).toEqual([]);
  });

  test('200 — beside other tests, sorted, counted, aggregated, exported and by POST', async () => {
    await bothWays(async () => {
      const filter = { $some: { 'member.project': { user: 'ada' } }, name: { $ne: 'P0' } };
      const { body } = await queryBy(service(), ada, 'project', { filter, sort: ['-name'], count: 'exact' });
      expect(body.items.map(({ fields }) => fields['name'])).toEqual(['P2']);
      expect(body.count).toEqual({ value: 1, kind: 'exact' });
      const json = { filter, measures: { projects: { $count: true } } };
      const groups = await service().call('POST', '/rest/entity/project/aggregate', { ...ada, json });
      expect(groups.body).toMatchObject({ groups: [{ projects: 1 }] });
      const query = new URLSearchParams({ filter: JSON.stringify(filter) });
      const { text: file } = await service().call('GET', `/rest/entity/project/export?${query.toString()}`, ada);
      expect(
        file
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as object),
      ).toMatchObject([{ key: projects[2] }, { entities: 1 }]);
    });
  });
});

describe('faults', () => {
  test('422 — of what is no reference to the listed name, and of more than one reference', async () => {
    for (const reference of ['member.user', 'member.nothing', 'nobody.project', 'task', 'task.', 'constructor.project', '.'])
      expect(await faultsOf('project', { $some: { [reference]: {} } }), reference).toEqual([
        expect.stringMatching(/^filter \/\$some(\/.+)? not-a-reference$/),
      ]);
    expect(await faultsOf('member', { $some: { 'member.project': {} } })).toEqual(['filter /$some/member.project not-a-reference']);
    expect(await faultsOf('note', { $none: { 'member.project': {} } })).toEqual(['filter /$none/member.project not-a-reference']);
    expect(await faultsOf('project', { $some: { 'member.project': {}, 'task.project': {} } })).toEqual(['filter /$some invalid-value']);
  });

  test('422 — of tests of a member, at their places', async () => {
    expect(await faultsOf('project', { $some: { 'member.project': { nothing: 1, user: 5 } } })).toEqual([
      'filter /$some/member.project/nothing unknown-field',
      'filter /$some/member.project/user invalid-type',
    ]);
  });

  test('422 — two references in a row and two of $some and $none; not three', async () => {
    const some = { $some: { 'member.project': { user: 'ada' } } };
    expect(await valuesBy('title', 'task', { filter: { project: { $match: some } } })).toEqual(['T0', 'T2']);
    const deep = { project: { $match: { parent: { $match: some } } } };
    expect(await faultsOf('task', deep)).toEqual(['filter /project/$match/parent/$match/$some/member.project too-deep']);
    const each = ['ada', 'bob', 'eve'].map((user) => ({ $some: { 'member.project': { user } } }));
    expect(await namesBy({ $or: each.slice(0, 2) })).toEqual(['P0', 'P1', 'P2']);
    expect(await faultsOf('project', { $or: each })).toEqual(['filter /$or/2/$some too-many-tests']);
  });

  test.each<[object, string]>([
    [{ user: 'ada' }, '["project","user"]'],
    [{ user: { $in: ['ada'] } }, '["project","user"]'],
    [{ day: { $gte: '2026-01-01' } }, '["project","day"]'],
    [{ user: { $var: 'user.name' }, day: { $gte: '2026-01-01' } }, '["project","user"]'],
  ])('422 — needs-index names the entry that %j lacks', async (of, entry) => {
    const answer = await list<ProblemBody>(service(), ada, 'project', { filter: { $some: { 'guest.project': of } } });
    expect(answer.body).toMatchObject({ status: 422, code: 'query-too-expensive', errors: [{ code: 'needs-index' }] });
    expect(answer.body.errors?.[0]?.detail).toContain(`Add ${entry} to x-index.`);
  });

  test('422 — needs-index without an entry for tests that no index serves', async () => {
    for (const of of [{ user: { $ne: 'ada' } }, { $or: [{ user: 'ada' }, { role: 'lead' }] }])
      expect(await faultsOf('project', { $some: { 'member.project': of } })).toEqual(['filter /$some/member.project needs-index']);
    expect(await namesBy({ $some: { 'guest.project': {} } })).toEqual([]);
  });
});

describe('the rights of the caller in $some', () => {
  test('own members alone are found by a caller who may read no others (rule 64)', async () => {
    const rob = await createCaller(service(), 'rob', { project: ['read'], member: { actions: ['read'], condition: 'own' } });
    await seedMany(service(), 'member', [{ project: projects[1], user: 'ada' }], 'rob');
    await bothWays(async () => {
      expect(await namesBy({ $some: { 'member.project': { user: 'ada' } } })).toEqual(['P0', 'P1', 'P2']);
      expect(await namesBy({ $some: { 'member.project': { user: 'ada' } } }, rob)).toEqual(['P1']);
      expect(await namesBy({ $none: { 'member.project': { user: 'ada' } } }, rob)).toEqual(['P0', 'P2', 'P3']);
    });
  });

  test('without read on the name a reference is as if there were none (rule 64)', async () => {
    const sam = await createCaller(service(), 'sam', { project: ['read'], member: ['create', 'update'] });
    expect(await namesBy({ name: 'P0' }, sam)).toEqual(['P0']);
    const fault = (reference: string) => faultsOf('project', { $some: { [reference]: { user: 'ada' } } }, sam);
    expect(await fault('member.project')).toEqual(['filter /$some/member.project not-a-reference']);
    expect(await fault('nobody.project')).toEqual(['filter /$some/nobody.project not-a-reference']);
  });
});
