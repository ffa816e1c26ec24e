/** The operator `$fold`: texts without regard to case and accents, which an index with `fold` declares. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { matchLimits } from '../../../src/entities/querying/match.ts';
import { listLimits } from '../../../src/entities/querying/access-path.ts';
import { foldedText } from '../../../src/filter/fold.ts';
import { declareIndexed } from '../../support/companion.ts';
import { declareType, type Entity } from '../../support/entities.ts';
import { faultsIn, keysIn, list, pagesOf, queryBy, seedMany, type ListQuery } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const text = { type: 'string' };
const service = useService();
const usual = { ...listLimits };
const usualMatches = { ...matchLimits };
const names = [
  'wool',
  'WOOL',
  'Lambswool',
  'Wööl',
  'Straße',
  'STRASSE',
  'ŁÓDŹ',
  'Ὀδυσσεύς',
  'ﬁne',
  'cafe\u0301',
  'woo',
  '',
  null,
  undefined,
];
const document = { type: 'object', properties: { name: { type: ['string', 'null'] }, city: text, parent: { ...text, format: 'int64' } } };
const rules = { 'x-index': [{ field: 'name', fold: true }, { field: 'name', fold: true, substring: true }, ['city']] };
let ada: { cookie: string };
let bob: { cookie: string };
let keys: string[];

beforeAll(async () => {
  ada = {
    cookie: await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id),
  };
  const own = { '*': { actions: ['read' as const], condition: 'own' as const } };
  bob = { cookie: await service().openSession((await service().createUser('bob', own)).id) };
  const rows = names.map((name, n) => ({ ...(name !== undefined && { name }), city: n % 2 ? 'Ulm' : 'Bonn' }));
  keys = await seedMany(service(), 'yarn', rows, 'ada', 'bob');
  await declareIndexed(service(), 'yarn', { ...document, ...rules });
});
afterEach(() => {
  Object.assign(listLimits, usual);
  Object.assign(matchLimits, usualMatches);
});

const at = (found: readonly string[]) => found.map((key) => keys.indexOf(key)).toSorted((a, b) => a - b);
const found = async (query: ListQuery, caller = ada, by = queryBy) => at(keysIn(await pagesOf(service(), caller, 'yarn', query, by)));
const all = names.map((_, index) => index);
const but = (...some: number[]) => all.filter((index) => !some.includes(index));

describe('a filter with $fold', () => {
  const cases: [fold: unknown, expected: number[]][] = [
    ['wool', [0, 1, 3]],
    ['WÖÖL', [0, 1, 3]],
    [{ $eq: 'strasse' }, [4, 5]],
    [{ $ne: 'Wool' }, but(0, 1, 3)],
    [{ $in: ['lodz', 'οδυσσευσ', 'FINE', null] }, [6, 7, 8, 12]],
    [{ $nin: ['lodz', 'wool'] }, but(0, 1, 3, 6)],
    [{ $in: [] }, []],
    [{ $nin: [] }, all],
    [{ $prefix: 'WOO' }, [0, 1, 3, 10]],
    [{ $prefix: '' }, but(12, 13)],
    [{ $contains: 'WOOL' }, [0, 1, 2, 3]],
    [{ $contains: 'Aß' }, [4, 5]],
    [{ $contains: 'Ó' }, [0, 1, 2, 3, 6, 10]],
    [{ $contains: 'CAFÉ' }, [9]],
    [{ $prefix: 'w', $contains: 'OL', $ne: 'woo' }, [0, 1, 3]],
    [null, [12]],
    ['', [11]],
  ];
  test.for(cases)('200 — %j finds the same in each road, by GET and by POST', async ([fold, expected]) => {
    const filter = { name: { $fold: fold } };
    for (const by of [list, queryBy]) expect(await found({ filter, limit: 3 }, ada, by)).toEqual(expected);
    for (const sort of [['name'], ['-city', 'name'], ['$createdAt']]) expect(await found({ filter, sort, limit: 2 })).toEqual(expected);
    expect(await found({ filter: { $or: [{ $not: { $not: filter } }, { city: 'Rome' }] } })).toEqual(expected);
    expect(await found({ filter }, bob)).toEqual(expected.filter((index) => index % 2 === 0));
    const counted = await list(service(), ada, 'yarn', { filter, count: 'exact', limit: 1 });
    expect(counted.body.count).toEqual({ value: expected.length, kind: 'exact' });
    const aggregated = await service().call<{ groups: { n: number }[] }>('POST', '/rest/entity/yarn/aggregate', {
      ...ada,
      json: { filter, measures: { n: { $count: true } } },
    });
    expect(aggregated.body.groups).toMatchObject([{ n: expected.length }]);
    const headers = { accept: 'application/x-ndjson' };
    const exported = await service().call('POST', '/rest/entity/yarn/export', { ...ada, headers, json: { filter } });
    expect(exported.text.match(/"key":/g) ?? []).toHaveLength(expected.length);
  });

  test('200 — is served by its index alone: an equality, a list, a beginning, and a part of three letters', async () => {
    Object.assign(listLimits, { rows: 4, rowsWithFields: 4, candidates: 4 });
    for (const fold of ['wool', { $in: ['wool', 'strasse'] }, { $prefix: 'WOO' }, { $contains: 'wool' }])
      expect((await list(service(), ada, 'yarn', { filter: { name: { $fold: fold } }, sort: ['name'] })).status).toBe(
        JSON.stringify(fold).includes('strasse') ? 422 : 200,
      );
    const answer = await list<ProblemBody>(service(), ada, 'yarn', { filter: { name: { $fold: { $ne: 'wool' } } }, sort: ['name'] });
    expect([answer.status, ...faultsIn(answer)]).toEqual([422, 'sort needs-index']);
  });

  test('200 — an equality leaves the sort by the same field as it is', async () => {
    const pages = await pagesOf(service(), ada, 'yarn', { filter: { name: { $fold: 'wool' } }, sort: ['name'], limit: 1 });
    expect(keysIn(pages).map((key) => names[keys.indexOf(key)])).toEqual(['WOOL', 'Wööl', 'wool']);
  });

  test('200 — sees what is written, changed and deleted', async () => {
    await declareType(service(), 'thread', { ...document, ...rules });
    const call = (method: 'POST' | 'DELETE', path: string, json?: object) =>
      service().call<Entity>(method, `/rest/entity/thread${path}`, { ...ada, ...(json && { json }) });
    const { key } = (await call('POST', '', { name: 'Crème' })).body;
    const finds = async (fold: string) => keysIn([(await list(service(), ada, 'thread', { filter: { name: { $fold: fold } } })).body]);
    expect(await finds('CREME')).toEqual([key]);
    await call('POST', `/${key}`, { name: 'Brulée' });
    expect([await finds('CREME'), await finds('brulee')]).toEqual([[], [key]]);
    await call('DELETE', `/${key}`);
    expect(await finds('brulee')).toEqual([]);
  });

  test.for([1_000, 1])('200 — looks through a reference, when it finds at most %i entities first', async (most) => {
    const parents = await seedMany(service(), `child${most}`, [{ parent: keys[1] }, { parent: keys[4] }, { parent: keys[3] }, {}], 'ada');
    await declareIndexed(service(), `child${most}`, { ...document, 'x-references': { parent: { to: 'yarn' } } });
    Object.assign(matchLimits, { keys: most });
    const filter = { parent: { $match: { name: { $fold: { $prefix: 'WO' } } } } };
    expect(keysIn([(await list(service(), ada, `child${most}`, { filter })).body])).toEqual([parents[0], parents[2]]);
  });

  test('200 — beside x-collation and x-unique with fold of the same field, which mean what they did', async () => {
    const both = { 'x-collation': { name: 'de' }, 'x-unique': [{ fields: ['name'], fold: true }] };
    await declareType(service(), 'felt', { ...document, ...both, 'x-index': [['name'], { field: 'name', fold: true }] });
    const create = (name: string) => service().call<Entity>('POST', '/rest/entity/felt', { ...ada, json: { name } });
    const one = (await create('Öl')).body.key;
    expect((await create('öl')).status).toBe(409);
    const other = (await create('ol')).body.key;
    const finds = async (filter: object) => keysIn([(await list(service(), ada, 'felt', { filter, sort: ['name'] })).body]);
    expect(await finds({ name: { $fold: 'ÖL' } })).toEqual([other, one]);
    expect(await finds({ name: 'Öl' })).toEqual([one]);
    expect(await finds({ name: { $fold: { $in: ['OL', 'x'] } } })).toEqual([other, one]);
  });
});

describe('a filter with $fold is refused', () => {
  test('422 — without its index, with the entry that is missing, for lists, aggregations and exports', async () => {
    await declareType(service(), 'plain', { ...document, 'x-index': [['name'], { field: 'name', substring: true }] });
    const filter = { city: 'Ulm', name: { $fold: 'a' } };
    for (const name of ['plain', 'undeclared']) {
      const answer = await list<ProblemBody>(service(), ada, name, { filter });
      expect([answer.status, answer.body.code, ...faultsIn(answer)]).toEqual([
        422,
        'query-too-expensive',
        'filter /name/$fold needs-index',
      ]);
      expect(answer.body.errors?.[0]?.detail).toContain('{"field":"name","fold":true}');
      for (const [path, more] of [
        ['query', {}],
        ['export', {}],
        ['aggregate', { measures: { n: { $count: true } } }],
      ] as const) {
        const refused = await service().call('POST', `/rest/entity/${name}/${path}`, { ...ada, json: { filter, ...more } });
        expect([refused.status, refused.body.code, ...faultsIn(refused)], path).toEqual([
          422,
          'query-too-expensive',
          '/filter/name/$fold needs-index',
        ]);
      }
    }
  });

  test.for<[unknown, string]>([
    [{ city: { $fold: 'a' }, name: { $fold: 5 } }, '/name/$fold invalid-type'],
    [{ name: { $fold: {} } }, '/name/$fold invalid-value'],
    [{ name: { $fold: { $gt: 'a' } } }, '/name/$fold/$gt unknown-operator'],
    [{ name: { $fold: { $fold: 'a' } } }, '/name/$fold/$fold unknown-operator'],
    [{ name: { $fold: { $match: {} } } }, '/name/$fold/$match unknown-operator'],
    [{ name: { $fold: { first: 'a' } } }, '/name/$fold/first unknown-operator'],
    [{ name: { $fold: { $contains: null } } }, '/name/$fold/$contains invalid-type'],
    [{ name: { $fold: { $in: ['a', 1] } } }, '/name/$fold/$in/1 invalid-type'],
    [{ name: { $fold: ['a'] } }, '/name/$fold invalid-type'],
    [{ name: { $fold: 'a'.repeat(1_001) } }, '/name/$fold too-long'],
    [{ parent: { $fold: 'a' } }, '/parent/$fold not-filterable'],
    [{ $createdBy: { $fold: 'ADA' } }, '/$createdBy/$fold not-filterable'],
    [{ $fold: { name: 'a' } }, '/$fold not-addressable'],
  ])('422 — %j', async ([filter, fault]) => {
    for (const by of [list<ProblemBody>, queryBy<ProblemBody>]) {
      const answer = await by(service(), ada, 'yarn', { filter });
      expect([answer.status, answer.body.code]).toEqual([422, 'validation-failed']);
      expect(faultsIn(answer).map((each) => each.replace(/^filter |^\/filter/, ''))).toContain(fault);
    }
  });

  test('422 — of the trash, and of a measure', async () => {
    const json = { filter: { name: { $fold: 'wool' } }, deleted: 'only' };
    const trash = await service().call('POST', '/rest/entity/yarn/query', { ...ada, json });
    expect([trash.status, ...faultsIn(trash)]).toEqual([422, '/filter/name/$fold not-filterable']);
    const measure = { measures: { m: { $max: 'city' } }, having: { m: { $fold: 'ulm' } } };
    const group = await service().call('POST', '/rest/entity/yarn/aggregate', { ...ada, json: measure });
    expect([group.status, ...faultsIn(group)]).toEqual([422, '/having/m/$fold not-filterable']);
  });
});

describe('the entry of x-index', () => {
  test.for<[unknown, string[]]>([
    [{ field: 'name', fold: true }, []],
    [{ field: 'name', fold: true, substring: true }, []],
    [{ field: 'name', fold: false }, ['/document/x-index/0/fold invalid-value']],
    [{ field: 'parent', fold: true }, ['/document/x-index/0/field invalid-type']],
    [{ field: '$createdBy', fold: true }, ['/document/x-index/0/field not-addressable']],
    [{ field: 'nmae', fold: true }, ['/document/x-index/0/field unknown-field']],
  ])('%j: %j', async ([entry, faults]) => {
    const json = { document: { ...document, 'x-index': [entry] } };
    const answer = await service().call('POST', '/rest/entity-type/other/plan', { ...ada, json });
    expect([answer.status, ...(answer.status === 200 ? [] : faultsIn(answer))]).toEqual([faults.length > 0 ? 422 : 200, ...faults]);
  });

  test('422 — of an entity whose folded text is longer than the index holds', async () => {
    await declareType(service(), 'tweed', { ...document, 'x-index': [{ field: 'name', fold: true }] });
    const create = (name: string) => service().call('POST', '/rest/entity/tweed', { ...ada, json: { name } });
    // The ligature is one character, and 18 in NFKC. An accent is no character of its own.
    for (const name of ['ß'.repeat(300), '\uFDFA'.repeat(33), 'e\u0301'.repeat(600)]) expect((await create(name)).status).toBe(201);
    for (const name of ['ß'.repeat(301), '\uFDFA'.repeat(34), 'e\u0301'.repeat(601)]) {
      const answer = await create(name);
      expect([answer.status, ...faultsIn(answer)]).toEqual([422, '/name too-long']);
    }
    const countOf = async (length: number) => {
      const filter = { name: { $fold: { $prefix: '\uFDFA'.repeat(length) } } };
      const page = await queryBy(service(), ada, 'tweed', { filter });
      return [page.status, keysIn([page.body]).length];
    };
    expect([await countOf(33), await countOf(34), await countOf(1_000)]).toEqual([
      [200, 1],
      [200, 0],
      [200, 0],
    ]);
  });
});

test('a folded text is folded once: folding it again changes nothing', () => {
  const changed: string[] = [];
  for (let point = 0; point < 0x3_0000; point += 1) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const folded = foldedText(String.fromCodePoint(point));
    if (foldedText(folded) !== folded) changed.push(point.toString(16));
  }
  expect(changed).toEqual([]);
});
