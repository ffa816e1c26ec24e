import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType, seed } from '../support/entities.ts';
import { useService, TestService } from '../support/service.ts';

interface PlanDocument {
  digest: string;
  plans: { name: string; effect: string; entities: number; unfit: number; examples: { key: string }[] }[];
  changed?: boolean;
}

const service = useService();
let admin: AdminCommand;
let cookie: string;
let directory: string;
let name = '';
let number = 0;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  cookie = await service().openSession((await service().createUser('ada')).id);
  directory = await mkdtemp(join(tmpdir(), 'types-'));
});
afterAll(() => rm(directory, { recursive: true }));
beforeEach(() => {
  name = `customer${++number}`;
});

/** Writes the file of the type and returns its path. */
async function fileOf(document: object): Promise<string> {
  const path = join(directory, `${name}.json`);
  await writeFile(path, JSON.stringify(document));
  return path;
}
const create = async (json: object) => (await service().call('POST', `/rest/entity/${name}`, { cookie, json })).status;
const plan = async (...words: string[]) => {
  const { code, stdout } = await admin.run(['types', 'plan', ...words, '--json']);
  return { code, document: JSON.parse(stdout) as PlanDocument };
};

test('a type that is applied counts for the next request, is listed and exported, and applying it again does nothing', async () => {
  const file = await fileOf({ title: 'Customer', type: 'object', required: ['a'] });
  expect(await plan(file)).toMatchObject({ code: 3, document: { plans: [{ name, effect: 'check', entities: 0 }] } });
  expect(await create({})).toBe(201);
  const unfit = await admin.run(['types', 'apply', file]);
  expect(unfit).toMatchObject({ code: 1, stderr: expect.stringContaining(`entities of ${name} do not fit`) });
  expect(unfit.stdout).toContain('/a: This is required.');
  expect(await create({})).toBe(201);

  expect(await admin.say(['types', 'apply', file, '--allow-unfit'])).toBe(`Applied: ${name}.\n`);
  expect(await create({})).toBe(422);
  expect(await plan(file)).toMatchObject({ code: 0, document: { plans: [] } });
  expect(await admin.json(['types', 'apply', file])).toMatchObject({ changed: false });
  expect(await admin.say(['types', 'list'])).toContain(name);
  expect(JSON.parse(await admin.say(['types', 'export', name]))).toEqual({ title: 'Customer', type: 'object', required: ['a'] });
  expect(await admin.json(['types', 'status'])).toMatchObject([{ name, entities: 2, unfit: 2 }]);
  const event = await service().db.selectFrom('audit_event').select(['event', 'detail']).orderBy('id', 'desc').executeTakeFirst();
  expect(event).toMatchObject({ event: 'type.declared', detail: { type: name, via: 'cli', by: 'administrator' } });
});

test('a sensitive field needs the digest, and the plan tells the grants, people and profiles that lose it', async () => {
  const salary = { type: 'string' };
  await admin.say(['types', 'apply', await fileOf({ type: 'object', properties: { salary } })]);
  await service().createUser(`reader${number}`, { [name]: ['read'] });
  const file = await fileOf({ type: 'object', properties: { salary: { ...salary, 'x-sensitive': true } } });
  const planned = await admin.run(['types', 'plan', file]);
  expect(planned.code).toBe(4);
  expect(planned.stdout).toMatch(/ {2}narrow +sensitive +\/properties\/salary\/x-sensitive\n/);
  expect(planned.stdout).toMatch(/\/properties\/salary: \d+ grants and \d+ people lose it \(.*reader\d+\)/);
  const [, digest = ''] = /A change of what people see needs --confirm ([0-9a-f]{64})/.exec(planned.stdout) ?? [];
  expect((await admin.run(['types', 'apply', file])).stderr).toBe(`error: this changes what people see: give --confirm ${digest}\n`);
  expect(await admin.say(['types', 'apply', file, '--confirm', digest])).toBe(`Applied: ${name}.\n`);
});

test('a deletion needs the digest that the command prints, which is that of the plan', async () => {
  await admin.say(['types', 'apply', await fileOf({ type: 'object', required: ['a'] })]);
  const refused = await admin.run(['types', 'delete', name]);
  expect(refused.code).toBe(1);
  const digest = /--confirm ([0-9a-f]{64})/.exec(refused.stderr)?.[1] ?? '';
  expect(await create({})).toBe(422);
  expect((await admin.run(['types', 'delete', name, '--confirm', 'f'.repeat(64)])).code).toBe(1);
  expect(await create({})).toBe(422);
  expect(await admin.say(['types', 'delete', name, '--confirm', digest])).toBe(`Applied: ${name}.\n`);
  expect(await create({})).toBe(201);
  expect(await admin.refusal(['types', 'delete', name, '--confirm', digest])).toBe(`there is no type called "${name}"`);
});

describe('types that refer to each other', () => {
  const key = { type: 'string', format: 'int64' };
  const texts = { email: { type: 'string' } };

  test('are applied from one directory in any order of names, and deleted together', async () => {
    const place = await mkdtemp(join(directory, 'references-'));
    const [order, customer] = [`a-order${number}`, `b-customer${number}`];
    const documents = {
      [order]: { properties: { customer: key }, 'x-references': { customer: { to: customer } } },
      [customer]: { properties: { ...texts, last: key }, 'x-unique': [{ fields: ['email'] }], 'x-references': { last: { to: order } } },
    };
    for (const [each, document] of Object.entries(documents)) await writeFile(join(place, `${each}.json`), JSON.stringify(document));
    expect(await plan(place)).toMatchObject({
      code: 3,
      document: {
        plans: [
          { name: order, effect: 'build' },
          { name: customer, effect: 'build' },
        ],
      },
    });
    expect(await admin.say(['types', 'apply', place])).toBe(`Applied: ${order}, ${customer}.\n`);
    expect((await plan(place)).code).toBe(0);
    expect(JSON.parse(await admin.say(['types', 'export', customer]))).toEqual(documents[customer]);
  });

  test('a type that refers to a circle of others is applied and deleted with them, from a directory and at the start', async () => {
    const place = await mkdtemp(join(directory, 'circle-'));
    const [first, second, third] = ['a', 'b', 'c'].map((letter) => `${letter}-circle${number}`);
    const to = (target = '') => ({ properties: { next: key }, 'x-references': { next: { to: target } } });
    const documents = { [`${first}`]: to(second), [`${second}`]: to(third), [`${third}`]: to(second) };
    for (const [each, document] of Object.entries(documents)) await writeFile(join(place, `${each}.json`), JSON.stringify(document));
    expect((await plan(place)).document.plans.map((each) => each.name)).toEqual([first, second, third]);
    expect(await admin.say(['types', 'apply', place])).toBe(`Applied: ${first}, ${second}, ${third}.\n`);
    for (const [each, document] of Object.entries(documents))
      expect(JSON.parse(await admin.say(['types', 'export', each]))).toEqual(document);

    const prune = ['types', 'apply', await fileOf({ type: 'object' }), '--prune'];
    const { digest } = JSON.parse((await admin.run([...prune, '--json'])).stdout) as PlanDocument;
    await admin.say([...prune, '--confirm', digest]);
    expect(await admin.json(['types', 'list'])).toEqual([expect.objectContaining({ name })]);

    await (await service().replica({ ENTITY_TYPES_DIR: place })).stop();
    const listed = (await admin.json(['types', 'list'])) as { name: string }[];
    expect(listed.map((each) => each.name)).toEqual([first, second, third, name]);
  });

  test('422 — a reference to a name without a type or a file is refused with its pointer, by the plan too', async () => {
    const file = await fileOf({ properties: { customer: key }, 'x-references': { customer: { to: 'nobody' } } });
    for (const command of ['plan', 'apply'])
      expect(await admin.refusal(['types', command, file])).toBe(`${name}: /x-references/customer/to: There is no entity with this key.`);
  });

  test('a plan names entities that share a value, --allow-unfit makes no exception, and the progress is shown', async () => {
    await create({ email: 'ada' });
    await create({ email: 'ADA' });
    const file = await fileOf({ properties: texts, required: ['other'], 'x-unique': [{ fields: ['email'], fold: true }] });
    expect(await plan(file)).toMatchObject({ code: 3, document: { plans: [{ effect: 'build', entities: 2, unfit: 4 }] } });
    const refused = await admin.run(['types', 'apply', file, '--allow-unfit']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`entities of ${name} do not fit: correct them\n`) });
    expect(refused.stdout).toContain('/email: Another entity has this value.');
    const indexed = await fileOf({ properties: texts, 'x-index': [['email']] });
    const applied = await admin.run(['types', 'apply', indexed]);
    expect(applied).toMatchObject({ code: 0, stdout: `Applied: ${name}.\n` });
    expect(applied.stderr).toBe(
      [`${name}: 2 of 2 entities checked`, `${name}: 2 of 2 entities indexed`, `${name}: 1 of 1 indexes built`, ''].join('\n'),
    );
    expect(await admin.json(['types', 'status'])).toContainEqual(expect.objectContaining({ name, state: 'ready', entities: 2 }));
  });
});

test('--prune plans the deletion of types without a file, exit code 4, and without it they stay', async () => {
  const file = await fileOf({ type: 'object' });
  await admin.say(['types', 'apply', file]);
  const kept = name;
  name = `other${number}`;
  await admin.say(['types', 'apply', await fileOf({ type: 'object' })]);
  expect((await plan(file)).code).toBe(0);
  const { code, document } = await plan(file, '--prune');
  expect(code).toBe(4);
  expect(document.plans.map((each) => each.effect)).toContain('loss');
  await admin.say(['types', 'apply', file, '--prune', '--confirm', document.digest]);
  const types = await admin.json<{ name: string }[]>(['types', 'list']);
  expect(types.map((type) => type.name)).toEqual([kept]);
});

test('a file that is no type is refused with the pointers of all faults, and changes nothing', async () => {
  const file = await fileOf({ requierd: [], properties: { a: { default: 1 } } });
  const { code, stderr } = await admin.run(['types', 'apply', file]);
  expect(code).toBe(1);
  expect(stderr).toContain('/requierd: ');
  expect(stderr).toContain('/properties/a/default: ');
  expect(await admin.refusal(['types', 'export', name])).toBe(`there is no type called "${name}"`);
});

describe('ENTITY_TYPES_DIR', () => {
  test('a start whose files do not fit the stored entities ends with their keys, and the old type stays in force', async () => {
    const place = await mkdtemp(join(directory, 'start-'));
    await seed(service(), name, `${number}00`, { a: 1 }, 'ada');
    await writeFile(join(place, `${name}.yaml`), 'required: [b]\n');
    const start = TestService.start({ ENTITY_TYPES_DIR: place }, { url: service().databaseUrl, drop: async () => undefined });
    await expect(start).rejects.toThrow(`${name}: stored entities do not fit (each pointer begins with a key): /${number}00/b: `);
    expect(await create({})).toBe(201);
  });

  test('a start whose files lose versions ends with the way to confirm it', async () => {
    const place = await mkdtemp(join(directory, 'start-'));
    const file = join(place, `${name}.yaml`);
    await declareType(service(), name, { type: 'object', 'x-history': { keep: 'P1Y' } });
    await writeFile(file, 'type: object\nx-history: { keep: P1M }\n');
    const start = TestService.start({ ENTITY_TYPES_DIR: place }, { url: service().databaseUrl, drop: async () => undefined });
    await expect(start).rejects.toThrow(`${name}: /x-history: versions would be kept for less time than now`);
    const { stdout } = await admin.run(['types', 'plan', file, '--json']);
    const { digest } = JSON.parse(stdout) as { digest: string };
    await admin.say(['types', 'apply', file, '--confirm', digest]);
    await (await service().replica({ ENTITY_TYPES_DIR: place })).stop();
  });

  test('a start whose files hide a field ends with the way to confirm it', async () => {
    const place = await mkdtemp(join(directory, 'start-'));
    await declareType(service(), name, { type: 'object', properties: { salary: {} } });
    await writeFile(join(place, `${name}.yaml`), 'type: object\nproperties: { salary: { x-sensitive: true } }\n');
    const start = TestService.start({ ENTITY_TYPES_DIR: place }, { url: service().databaseUrl, drop: async () => undefined });
    await expect(start).rejects.toThrow(`${name}: x-sensitive: a field would be hidden from people who see it`);
  });

  test('a type whose file is gone stays, and a changed file counts from the next start on', async () => {
    const place = await mkdtemp(join(directory, 'start-'));
    const file = join(place, `${name}.yaml`);
    const restart = async () => (await service().replica({ ENTITY_TYPES_DIR: place })).stop();
    await writeFile(file, 'required: [b]\n');
    await restart();
    await service().settle();
    expect([await create({}), await create({ b: 1 })]).toEqual([422, 201]);
    await writeFile(file, 'required: [b]\ntitle: Other\n');
    await restart();
    await rm(file);
    await restart();
    await service().settle();
    expect(await create({})).toBe(422);
    expect(await admin.say(['types', 'export', name])).toContain('Other');
    onTestFinished(() => rm(place, { recursive: true }));
  });
});

test('the action type is granted without a condition on rows', async () => {
  await admin.say(['role', 'create', 'modeller']);
  expect(await admin.refusal(['role', 'grant', 'modeller', '--entity', '*', '--actions', 'type', '--condition', 'own'], '', 2)).toMatch(
    /concerns a name and no rows/,
  );
  expect(await admin.say(['role', 'grant', 'modeller', '--entity', '*', '--actions', 'type'])).toContain('grants type on every entity');
});
