/** `types rebuild`: tables of types that an earlier version built, and rows that one wrote. */
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { theService } from '../../src/audit/actor.ts';
import { runCommand } from '../../src/cli/program.ts';
import type { Companion } from '../../src/entities/companion/layout.ts';
import { inSchema } from '../../src/entities/companion/table.ts';
import { checkCompanions, checkLayouts } from '../../src/cli/doctor-companions.ts';
import { settleInterrupted, settleType } from '../../src/entity-types/apply.ts';
import { findStoredType } from '../../src/entity-types/store.ts';
import { lockBuild, unlockBuild } from '../../src/entity-types/transaction.ts';
import { AdminCommand } from '../support/admin.ts';
import { companionRows, declareWithRules, storeEarlierLayout } from '../support/companions.ts';
import { seed } from '../support/entities.ts';
import { storeDocument } from '../support/stored-document.ts';
import { useService, type ProblemBody } from '../support/service.ts';

interface Page {
  items: { key: string }[];
}

const service = useService();
let admin: AdminCommand;
let cookie: string;
let name = '';
let number = 0;

beforeAll(async () => {
  admin = new AdminCommand(service().databaseUrl);
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id);
});
beforeEach(() => {
  name = `yarn${++number}`;
});

const properties = { name: { type: 'string' }, city: { type: 'string' } };
const searched = { properties, 'x-search': { fields: ['name'] } };
const folded = { properties, 'x-index': [{ field: 'name', fold: true }, ['city']] };

/** The words of the search have their accents, as in version 0.1.0. */
const withUnfoldedWords = ({ search, ...companion }: Companion): Companion => {
  const { isFolded: _, ...before } = search ?? { texts: [], language: 'simple' };
  return { ...companion, search: before };
};
/** No text has a column without case and accents. */
const withoutFoldedColumns = ({ columns, indexes, ...companion }: Companion): Companion => {
  const others = columns.filter(({ type }) => type !== 'folded');
  const isOfOthers = (column: string) => others.some((each) => each.name === column);
  return { ...companion, columns: others, indexes: indexes.filter((index) => index.columns.every((column) => isOfOthers(column.name))) };
};

const create = async (fields: object) => {
  const { status, body } = await service().call<{ key: string }>('POST', `/rest/entity/${name}`, { cookie, json: fields });
  expect(status).toBe(201);
  return body.key;
};
const list = (query: Record<string, string>) =>
  service().call<Page & ProblemBody>('GET', `/rest/entity/${name}?${new URLSearchParams(query).toString()}`, { cookie });
const keysOf = async (query: Record<string, string>) => {
  await service().settle();
  const { status, body } = await list(query);
  expect(status).toBe(200);
  return body.items.map(({ key }) => key);
};
/** The findings of `doctor` about tables of types. */
const doctor = async () => {
  const { stdout } = await admin.run(['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
  return Object.fromEntries(checks.flatMap((check) => (['layouts', 'companions'].includes(check.name) ? [[check.name, check]] : [])));
};
/** The same without the other checks of `doctor`, which take long. */
const layouts = async () => ({
  layouts: await checkLayouts(service().store),
  companions: await checkCompanions(service().store, false),
});
const storedCompanion = async () => (await findStoredType(service().db, name)).companion;

test('a search of words that an earlier version stored finds them without accents after the rebuild, and doctor names the type before it', async () => {
  await declareWithRules(service(), name, searched);
  await storeEarlierLayout(service(), name, withUnfoldedWords);
  const key = await create({ name: 'Crème' });
  expect(await keysOf({ search: 'creme' })).toEqual([]);
  expect(await doctor()).toMatchObject({
    layouts: { status: 'warn', message: `${name}: an earlier version built the indexed values. Run "types rebuild"` },
    companions: { status: 'ok' },
  });

  const run = await admin.run(['types', 'rebuild']);
  expect(run).toEqual({
    code: 0,
    stdout: `Rebuilt: ${name}.\n`,
    stderr: `${name}: 1 of 1 entities checked\n${name}: 1 of 1 entities indexed\n${name}: 0 of 0 indexes built\n`,
  });
  expect(await keysOf({ search: 'creme' })).toEqual([key]);
  expect(await storedCompanion()).toMatchObject({ state: 'ready', search: { isFolded: true } });
  expect(await layouts()).toMatchObject({ layouts: { status: 'ok' }, companions: { status: 'ok' } });
  expect(await admin.say(['types', 'rebuild'])).toBe('Nothing to do: no type is outdated.\n');
});

test('a column that an earlier version did not build is built for the named type alone, and $fold finds its texts', async () => {
  const [first, second] = [`${name}-a`, `${name}-b`];
  const keys: string[] = [];
  for (name of [first, second]) {
    await declareWithRules(service(), name, folded);
    await storeEarlierLayout(service(), name, withoutFoldedColumns);
    keys.push(await create({ name: 'Wööl', city: 'Ulm' }));
  }
  name = first;
  const filter = JSON.stringify({ name: { $fold: 'WOOL' } });
  const { status, body } = await list({ filter });
  expect([status, body.errors?.[0]?.code]).toEqual([422, 'needs-index']);

  expect(JSON.parse((await admin.run(['types', 'rebuild', first, '--json'])).stdout)).toEqual({
    changed: true,
    rebuilt: [first],
    current: [],
    building: [],
    refused: [],
  });
  expect(await keysOf({ filter })).toEqual([keys[0]]);
  expect(await keysOf({ filter: JSON.stringify({ city: 'Ulm' }), sort: 'city' })).toEqual([keys[0]]);
  expect((await layouts())['layouts']).toMatchObject({ status: 'warn', message: expect.stringMatching(`^${second}: `) });
  expect((await admin.run(['types', 'rebuild', second, first, first])).stdout).toBe(`Rebuilt: ${second}.\nNot outdated: ${first}.\n`);
  expect((await layouts())['layouts']).toMatchObject({ status: 'ok' });
});

test('a type that is not outdated stays as it is, and an unknown one is refused before any is built', async () => {
  const { table } = await declareWithRules(service(), name, folded);
  const { revision } = await findStoredType(service().db, name);
  expect(await admin.say(['types', 'rebuild', name])).toBe(`Not outdated: ${name}.\n`);
  await storeEarlierLayout(service(), name, withoutFoldedColumns);
  const before = await storedCompanion();
  expect(await admin.refusal(['types', 'rebuild', name, `${name}x`])).toBe(`there is no type called "${name}x"`);
  expect(await admin.refusal(['types', 'rebuild', '7'], '', 2)).toContain('A type has the name of its entities');
  expect(await storedCompanion()).toEqual(before);
  expect((await admin.run(['types', 'rebuild', name])).code).toBe(0);
  expect(await storedCompanion()).toMatchObject({ table, state: 'ready' });
  expect(Number((await findStoredType(service().db, name)).revision)).toBeGreaterThan(Number(revision));
});

describe('--all-rows', () => {
  test('computes rows again that have other values than their entities, or are missing', async () => {
    const { table, columns } = await declareWithRules(service(), name, { ...folded, ...searched });
    const keys = [await create({ name: 'Wööl', city: 'Ulm' }), await create({ name: 'Wool', city: 'Bonn' })];
    const column = columns.find(({ type }) => type === 'folded');
    await sql`update ${inSchema(table)} set ${sql.ref(column?.name ?? '')} = null, search = '' where key = ${keys[0]}`.execute(
      service().db,
    );
    await sql`delete from ${inSchema(table)} where key = ${keys[1]}`.execute(service().db);
    const filter = JSON.stringify({ name: { $fold: 'WOOL' } });
    expect(await keysOf({ filter })).toEqual([]);
    expect((await layouts())['companions']).toMatchObject({
      status: 'fail',
      message: expect.stringContaining(`Run "types rebuild ${name} --all-rows"`),
    });
    expect(await admin.say(['types', 'rebuild', name])).toBe(`Not outdated: ${name}.\n`);
    expect(await keysOf({ filter })).toEqual([]);

    expect((await admin.run(['types', 'rebuild', name, '--all-rows'])).stdout).toBe(`Rebuilt: ${name}.\n`);
    expect(await keysOf({ filter })).toEqual(keys);
    expect((await keysOf({ search: 'wool' })).toSorted()).toEqual(keys);
    expect(await layouts()).toMatchObject({ layouts: { status: 'ok' }, companions: { status: 'ok' } });
  });

  test('without names concerns every type with a table, and writes only rows that differ', async () => {
    const companion = await declareWithRules(service(), name, folded);
    await create({ name: 'Wööl' });
    const rows = await companionRows(service(), companion);
    const { rebuilt } = JSON.parse((await admin.run(['types', 'rebuild', '--all-rows', '--json'])).stdout) as { rebuilt: string[] };
    expect(rebuilt).toContain(name);
    expect(rebuilt).toContain('yarn1');
    expect(await companionRows(service(), companion)).toEqual(rows);
  });
});

describe('a table that is being built', () => {
  const killed = () => {
    throw new RangeError('killed');
  };

  const byCommand = async () => expect((await admin.run(['types', 'rebuild'])).stdout).toBe(`Rebuilt: ${name}.\n`);
  const byService = async () => expect(await settleInterrupted(service().store, theService)).toBe(1);

  test.each([
    ['the next rebuild', byCommand],
    ['the housekeeping of the service', byService],
  ])('and whose build was interrupted is complete after %s', async (_, complete) => {
    await declareWithRules(service(), name, searched);
    await storeEarlierLayout(service(), name, withUnfoldedWords);
    const key = await create({ name: 'Crème' });
    const options = { onProgress: ({ phase }: { phase: string }) => phase === 'rows' && killed() };
    await expect(settleType(service().store, theService, name, options)).rejects.toThrow(RangeError);
    await service().settle();
    const { status, body } = await list({ search: 'creme' });
    expect([status, body.errors?.[0]?.code]).toEqual([422, 'needs-index']);
    await complete();
    expect(await keysOf({ search: 'creme' })).toEqual([key]);
  });

  test('by another process is waited for, and the command says so', async () => {
    await declareWithRules(service(), name, searched);
    await storeEarlierLayout(service(), name, withUnfoldedWords);
    const [output, errors] = [new PassThrough(), new PassThrough()];
    const environment = () => ({ DATABASE_URL: service().databaseUrl });
    const desk = { input: Readable.from([]), output, errors, environment, exitCode: 0 as const };
    await service().store.runLong(async (db) => {
      expect(await lockBuild(db, name)).toBe(true);
      const rebuilt = runCommand(['types', 'rebuild', name], desk);
      const [line] = (await once(errors, 'data')) as [Buffer];
      expect(line.toString()).toBe(`${name}: waiting for another build of this type\n`);
      expect(await storedCompanion()).not.toMatchObject({ search: { isFolded: true } });
      await unlockBuild(db, name);
      await rebuilt;
    });
    expect(String(output.read())).toBe(`Rebuilt: ${name}.\n`);
    expect(await storedCompanion()).toMatchObject({ state: 'ready', search: { isFolded: true } });
  });

  test('for another change is named, and is not touched by a rebuild of all outdated types', async () => {
    await declareWithRules(service(), name, searched);
    const key = await create({ name: 'Crème' });
    const options = { allRows: true, onProgress: ({ phase }: { phase: string }) => phase === 'rows' && killed() };
    await expect(settleType(service().store, theService, name, options)).rejects.toThrow(RangeError);
    const { revision } = await findStoredType(service().db, name);
    expect(await admin.run(['types', 'rebuild', name])).toEqual({
      code: 0,
      stdout: 'Nothing to do: no type is outdated.\n',
      stderr: `note: ${name}: not outdated, but being built, or a build was interrupted\n`,
    });
    expect((await findStoredType(service().db, name)).revision).toBe(revision);
    expect(await keysOf({ search: 'creme' })).toEqual([key]);
    expect((await admin.run(['types', 'rebuild', name, '--all-rows'])).stdout).toBe(`Rebuilt: ${name}.\n`);
    expect(await storedCompanion()).toMatchObject({ state: 'ready' });
  });
});

test('a type is rebuilt with entities that an earlier version accepted: of a time with seven digits, which columns compare by six', async () => {
  const at = { type: 'string', format: 'date-time' };
  await declareWithRules(service(), name, { ...searched, properties: { ...properties, at }, 'x-index': [['at']] });
  await storeEarlierLayout(service(), name, withUnfoldedWords);
  await seed(service(), name, `${number}0000`, { name: 'Crème', at: '2026-11-26T12:00:00.1234567Z' }, 'ada');
  expect((await admin.run(['types', 'rebuild', name])).stdout).toBe(`Rebuilt: ${name}.\n`);
  expect(await keysOf({ search: 'creme' })).toEqual([`${number}0000`]);
});

test('a type whose fields this version cannot check is rebuilt, also without any table', async () => {
  await declareWithRules(service(), name, searched);
  const key = await create({ name: 'Crème' });
  const unchecked = { type: 'string', format: 'date-time', formatMinimum: '2020-01-01' };
  await storeDocument(service().db, name, { ...searched, properties: { ...properties, at: unchecked } }, 'api');
  expect((await layouts())['layouts']).toMatchObject({ status: 'warn', message: expect.stringMatching(`^${name}: `) });
  expect((await admin.run(['types', 'rebuild'])).stdout).toBe(`Rebuilt: ${name}.\n`);
  expect(await keysOf({ search: 'creme' })).toEqual([key]);
});

test('a type whose entities a rule does not allow is refused with them, and the others are rebuilt', async () => {
  await declareWithRules(service(), name, { ...searched, 'x-unique': [{ fields: ['city'] }] });
  await storeEarlierLayout(service(), name, ({ uniques: _, ...companion }) => ({ ...companion, uniques: [] }));
  const key = await create({ city: 'Ulm' });
  const other = await create({ city: 'Ulm' });
  const refused = name;
  name = `${refused}-other`;
  await declareWithRules(service(), name, searched);
  await storeEarlierLayout(service(), name, withUnfoldedWords);
  const { code, stdout, stderr } = await admin.run(['types', 'rebuild', refused, name]);
  expect([code, stdout]).toEqual([1, `Rebuilt: ${name}.\n`]);
  expect(stderr).toContain(`error: ${refused}: `);
  expect(stderr).toMatch(new RegExp(`${key}|${other}`));
});
