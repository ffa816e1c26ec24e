/** Rules that look through references, in filters and checks (rule 178). The numbers are those of the acceptance checks. */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
type Body = Entity & ProblemBody & { items: Entity[]; results: { status: number; entity: Entity }[]; groups: object[] };
let root: Call;
let ada: Call;
let bob: Call;

const send = (who: Call, method: string, path: string, json?: object, call: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, ...call, ...(json && { json }) });
const faultsOf = ({ body }: Answer<Body>) => (body.errors ?? []).map(({ pointer, code }) => ({ pointer, code }));
const at = (name: string, { key }: Entity) => `entity/${name}/${key}`;

const reference = { type: 'string', format: 'int64' };
const me = { $var: 'user.name' };
const member = (more: object = {}) => ({ $some: { 'member.project': { user: me, ...more } } });
const ofMine = (more?: object) => ({ project: { $match: member(more) } });

beforeAll(async () => {
  await declareType(service(), 'project', {
    type: 'object',
    properties: { label: { type: 'string' }, lead: { type: 'string' } },
    additionalProperties: false,
    'x-soft-delete': true,
  });
  await declareType(service(), 'member', {
    type: 'object',
    properties: { project: reference, user: { type: 'string' }, role: { type: 'string' } },
    additionalProperties: false,
    'x-references': { project: { to: 'project', onDelete: 'cascade' } },
    'x-index': [['project', 'user']],
  });
  await declareType(service(), 'task', {
    type: 'object',
    properties: { project: reference, note: { type: 'string' }, state: { type: 'string' }, hours: { type: 'number' } },
    additionalProperties: false,
    'x-references': { project: { to: 'project' } },
    'x-index': [['hours']],
    'x-soft-delete': true,
  });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  const grants = [
    { entity: 'task', actions: ['read' as const], rule: { filter: ofMine(), read: ['*', '-hours'] } },
    { entity: 'task', actions: ['read' as const], rule: { filter: ofMine({ role: 'lead' }), read: ['hours'] } },
    { entity: 'task', actions: ['update' as const, 'delete' as const], rule: { filter: ofMine({ role: 'writer' }) } },
    { entity: 'task', actions: ['create' as const], rule: { check: ofMine({ role: { $in: ['writer', 'lead'] } }) } },
    { entity: 'project', actions: ['read' as const], rule: { filter: { $or: [member(), { label: 'public' }] } } },
    { entity: 'member', actions: ['create' as const], rule: { check: { project: { $match: { lead: me } } } } },
  ];
  ada = await callerWith(service(), 'ada', grants);
  bob = await callerWith(service(), 'bob', grants);
});

async function made(name: string, fields: object): Promise<Entity> {
  const { status, body, text } = await send(root, 'POST', `entity/${name}`, fields);
  expect(status, text).toBe(201);
  return body;
}

interface Team {
  project: Entity;
  task: Entity;
}

/** A project with a task, and with ada as a member in these roles. */
async function team(...roles: string[]): Promise<Team> {
  const project = await made('project', { label: 'p' });
  for (const role of roles) await made('member', { project: project.key, user: 'ada', role });
  return { project, task: await made('task', { project: project.key, note: 'n', state: 'open', hours: 3 }) };
}

describe('tasks by membership (check 16 of rights)', () => {
  test('200 — a member reads, 404 — others, and at once after the member is deleted', async () => {
    const { project, task } = await team('reader');
    expect((await send(ada, 'GET', at('task', task))).body.fields).toEqual({ project: project.key, note: 'n', state: 'open' });
    const hidden = await send(bob, 'GET', at('task', task));
    const missing = await send(bob, 'GET', 'entity/task/9000000000000000000');
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect({ ...hidden.body, instance: '' }).toEqual({ ...missing.body, instance: '' });
    const filter = encodeURIComponent(JSON.stringify({ project: project.key }));
    const [found] = (await send(root, 'GET', `entity/member?filter=${filter}`)).body.items;
    expect((await send(root, 'DELETE', at('member', found as Entity))).status).toBe(204);
    expect((await send(ada, 'GET', at('task', task))).status).toBe(404);
  });

  test('200 — cells by the role of the member, in reads, lists, filters, sorts and aggregations', async () => {
    const [read, led] = [await team('reader'), await team('lead')];
    const hidden = await team();
    expect((await send(ada, 'GET', at('task', read.task))).body.fields).not.toHaveProperty('hours');
    expect((await send(ada, 'GET', at('task', led.task))).body.fields).toMatchObject({ hours: 3 });
    const keys = [read, led, hidden].map(({ project }) => project.key);
    const listed = async (filter: object, more = '') =>
      (await send(ada, 'GET', `entity/task?filter=${encodeURIComponent(JSON.stringify({ project: { $in: keys }, ...filter }))}${more}`))
        .body;
    const keysOf = (body: Body) => body.items.map(({ key }) => key);
    expect(keysOf(await listed({}))).toEqual([read.task.key, led.task.key]);
    expect(await listed({}, '&count=exact')).toMatchObject({ count: { value: 2, kind: 'exact' }, partial: true });
    expect(keysOf(await listed({ hours: 3 }))).toEqual([led.task.key]);
    expect(keysOf(await listed({ $not: { hours: 3 } }))).toEqual([read.task.key]);
    expect(keysOf(await listed({}, '&sort=hours'))).toEqual([led.task.key, read.task.key]);
    expect(keysOf(await listed({ project: { $match: { label: 'p' } } }))).toEqual([read.task.key, led.task.key]);
    const groups = await send(ada, 'POST', 'entity/task/aggregate', {
      filter: { project: { $in: keys } },
      groupBy: ['hours'],
      measures: { n: { $count: true } },
    });
    expect(groups.body.groups, groups.text).toEqual([
      { key: { hours: 3 }, n: 1 },
      { key: { hours: null }, n: 1 },
    ]);
  });

  test('200 — a writer changes and deletes, 403 — a reader does not, 404 — others', async () => {
    const [written, read, foreign] = [await team('reader', 'writer'), await team('reader'), await team()];
    expect((await send(ada, 'POST', at('task', written.task), { note: 'x' })).status).toBe(200);
    expect((await send(ada, 'POST', at('task', read.task), { note: 'x' })).status).toBe(403);
    expect((await send(ada, 'POST', at('task', foreign.task), { note: 'x' })).status).toBe(404);
    const statuses = [];
    for (const { task } of [read, foreign, written]) statuses.push((await send(ada, 'DELETE', at('task', task))).status);
    expect(statuses).toEqual([403, 404, 204]);
    for (const { task } of [read, foreign])
      expect((await send(root, 'GET', at('task', task))).body).toMatchObject({ version: 1, fields: { note: 'n' } });
    expect((await send(root, 'GET', at('task', written.task))).status).toBe(404);
  });

  test('403 — a task does not move to a project where the caller writes nothing', async () => {
    const [written, read] = [await team('reader', 'writer'), await team('reader')];
    const moved = await send(ada, 'POST', at('task', written.task), { project: read.project.key });
    expect([moved.status, faultsOf(moved)]).toEqual([403, [{ pointer: '/project', code: 'value-forbidden' }]]);
    expect((await send(root, 'GET', at('task', written.task))).body.version).toBe(1);
  });

  test('200, 204 — in a batch, and 403 — a part of one undoes all of it', async () => {
    const [written, read] = [await team('reader', 'writer'), await team('reader')];
    const run = (...operations: object[]) => send(ada, 'POST', 'batch', { operations });
    const removal = ({ task: { key } }: Team) => ({ op: 'delete', name: 'task', key });
    const refused = await run(removal(written), removal(read));
    expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer: '/operations/1', code: 'refused' }]]);
    expect((await send(root, 'GET', at('task', written.task))).status).toBe(200);
    const done = await run(
      { op: 'update', name: 'task', key: written.task.key, fields: { note: 'y' } },
      { op: 'get', name: 'task', key: written.task.key },
      removal(written),
    );
    expect(done.status, done.text).toBe(200);
    expect(done.body.results.map(({ status }) => status)).toEqual([200, 200, 204]);
  });

  test('200 — history and the trash follow the membership of now', async () => {
    const { task } = await team('reader', 'writer');
    expect((await send(ada, 'GET', `${at('task', task)}/history`)).status).toBe(200);
    expect((await send(bob, 'GET', `${at('task', task)}/history`)).status).toBe(404);
    expect((await send(ada, 'DELETE', at('task', task))).status).toBe(204);
    const trashed = async (who: Call) => (await send(who, 'GET', 'entity/task?deleted=only')).body.items.map(({ key }) => key);
    expect(await trashed(ada)).toContain(task.key);
    expect(await trashed(bob)).toEqual([]);
  });
});

describe('a check that looks through a reference', () => {
  test('201 — the lead adds a member, 403 — others do not hang onto the project', async () => {
    const project = await made('project', { label: 'public', lead: 'ada' });
    const fields = { project: project.key, user: 'bob', role: 'reader' };
    expect((await send(ada, 'POST', 'entity/member', fields)).status).toBe(201);
    const refused = await send(bob, 'POST', 'entity/member', fields);
    expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer: '/project', code: 'value-forbidden' }]]);
  });

  test('200 — a batch creates a project, its first member and reads it by that (check 25 of rights)', async () => {
    const creator = await callerWith(service(), 'creator', [
      { entity: 'project', actions: ['create'] },
      { entity: 'member', actions: ['create'], rule: { check: { project: { $match: { lead: me } } } } },
      { entity: 'project', actions: ['read'], rule: { filter: member() } },
    ]);
    const project = { op: 'create', id: 'p', name: 'project', fields: { label: 'new', lead: 'creator' } };
    const joins = { op: 'create', name: 'member', fields: { project: { $ref: 'p' }, user: 'creator' } };
    const done = await send(creator, 'POST', 'batch', { operations: [project, joins] });
    expect(done.status, done.text).toBe(200);
    expect(done.body.results.map(({ status }) => status)).toEqual([201, 201]);
    const [made201] = done.body.results;
    expect((await send(creator, 'GET', `entity/project/${made201?.entity.key}`)).status).toBe(200);
    const foreign = await made('project', { label: 'x', lead: 'creator' });
    const get = { op: 'get', name: 'project', key: foreign.key };
    expect((await send(creator, 'POST', 'batch', { operations: [get] })).status).toBe(404);
    const joined = { ...joins, fields: { project: foreign.key, user: 'creator' } };
    expect((await send(creator, 'POST', 'batch', { operations: [joined, get] })).status).toBe(422);
    // A target that a later operation creates fulfils no `$match`.
    const before = await send(creator, 'POST', 'batch', { operations: [joins, project] });
    expect([before.status, faultsOf(before)]).toEqual([403, [{ pointer: '/operations/0/fields/project', code: 'value-forbidden' }]]);
  });
});
