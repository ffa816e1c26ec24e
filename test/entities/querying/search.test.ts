/** The member `search` of lists, over the texts that `x-search` names. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listLimits } from '../../../src/entities/querying/access-path.ts';
import { declareIndexed } from '../../support/companion.ts';
import { declareType } from '../../support/entities.ts';
import { faultsIn, keysIn, list, pagesOf, queryBy, seedMany, type ListQuery } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const text = { type: 'string' };
const company = { type: 'object', properties: { name: text, city: text, note: text, n: { type: 'number' } } };
const service = useService();
const usual = { ...listLimits };
const rows = [
  { name: 'Analytical Engines of London', city: 'Paris', n: 1 },
  { name: 'Steam Engines', city: 'London', n: 2 },
  { name: 'Clockwork "100%" & Sons', city: 'London', note: 'engines', n: 3 },
  { name: 'Steam and Clockwork', city: 'Rome', n: 4 },
  { n: 5 },
  { name: 'London London', city: 'London', n: 6 },
];
let ada: { cookie: string };
let bob: { cookie: string };
let keys: string[];

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  const own = { '*': { actions: ['read' as const], condition: 'own' as const } };
  bob = { cookie: await service().openSession((await service().createUser('bob', own)).id) };
  keys = await seedMany(service(), 'company', rows, 'ada', 'bob');
  await declareIndexed(service(), 'company', { ...company, 'x-search': { fields: ['name', 'city'] }, 'x-index': [['n'], ['city']] });
  await declareType(service(), 'plain', company);
});
afterEach(() => void Object.assign(listLimits, usual));

const found = async (query: ListQuery, caller = ada, by = list) =>
  keysIn(await pagesOf(service(), caller, 'company', query, by)).map((key) => keys.indexOf(key));

describe('a search', () => {
  test.for<[string, number[]]>([
    ['engines', [0, 1]],
    ['ENGINES steam', [1]],
    ['clockwork or analytical', [0, 2, 3]],
    ['steam -engines', [3]],
    ['"steam engines"', [1]],
    ['"engines steam"', []],
    ['100%', [2]],
    ['steam-engines', [1]],
    ['clockwork@sons', [2]],
    ['-engines steam', [3]],
    ["'; drop table entity; --", []],
    ['""', []],
    [' ', []],
    ['& | ! ( ) : * \\', []],
    ['nothing', []],
    ['eng', [0, 1]],
    ['lon stea', [1]],
    ['e', []],
    ['or engines', []],
    ['analytical or', [0]],
    ['steam -eng', [1, 3]],
    ['"steam eng"', []],
    ['clock or anal -london', [2, 3]],
    ['son', [2]],
  ])('200 — %s', async ([search, expected]) => {
    expect((await found({ search })).toSorted((a, b) => a - b)).toEqual(expected);
    expect(await found({ search, sort: ['$key'] }, ada, queryBy)).toEqual(expected);
  });

  test('200 — composed and decomposed letters, and other forms of letters, are the same', async () => {
    const names = ['Café Zoë', 'Café Zoë'.normalize('NFD'), 'ﬁne ＡＢＣ', 'caf'];
    const companies = names.map((name) => ({ name }));
    const known = await seedMany(service(), 'cafe', companies, 'ada');
    await declareIndexed(service(), 'cafe', { ...company, 'x-search': { fields: ['name'] } });
    const places = async (search: string) =>
      keysIn(await pagesOf(service(), ada, 'cafe', { search, sort: ['$key'] }, queryBy)).map((key) => known.indexOf(key));
    for (const form of ['NFC', 'NFD'])
      for (const search of ['café', 'ZOË', '"café zoë"', 'zoë -caf']) expect(await places(search.normalize(form))).toEqual([0, 1]);
    expect(await places('fine abc')).toEqual([2]);
    expect(await places('ＦＩＮＥ')).toEqual([2]);
  });

  test('200 — words with and without accents are the same, and letters of other scripts are not', async () => {
    const names = ['Café Łódź', 'CAFE Lodz', 'Straße Ærø', 'Ёлка', 'मूल', 'मल', 'がく', 'かく', 'Ὀδυσσεύς'];
    const known = await seedMany(
      service(),
      'accented',
      names.map((name) => ({ name })),
      'ada',
    );
    await declareIndexed(service(), 'accented', { ...company, 'x-search': { fields: ['name'] } });
    const places = async (search: string) =>
      keysIn(await pagesOf(service(), ada, 'accented', { search, sort: ['$key'] }, queryBy)).map((key) => known.indexOf(key));
    for (const search of ['cafe', 'café', 'caf', 'łódź', 'lodz', 'LOD']) expect(await places(search), search).toEqual([0, 1]);
    for (const search of ['strasse', 'straße', 'aero', 'ærø']) expect(await places(search), search).toEqual([2]);
    for (const search of ['елка', 'ёлка']) expect(await places(search), search).toEqual([3]);
    expect([await places('मूल'), await places('मल'), await places('がく'), await places('かく')]).toEqual([[4], [5], [6], [7]]);
    for (const search of ['οδυσσ', 'ΟΔΥΣ']) expect(await places(search), search).toEqual([8]);
  });

  test('200 — in a language forms of a word are found, beginnings too, and words that say nothing are passed over', async () => {
    const names = ['The engines of Ada', 'An engine', 'Enginery'];
    const known = await seedMany(
      service(),
      'stemmed',
      names.map((name) => ({ name })),
      'ada',
    );
    await declareIndexed(service(), 'stemmed', { ...company, 'x-search': { fields: ['name'], language: 'english' } });
    const places = async (search: string) =>
      keysIn(await pagesOf(service(), ada, 'stemmed', { search, sort: ['$key'] }, queryBy)).map((key) => known.indexOf(key));
    expect(await places('engines')).toEqual([0, 1]);
    expect(await places('the engine')).toEqual([0, 1, 2]);
    expect(await places('engi')).toEqual([0, 1, 2]);
    expect(await places('enginery')).toEqual([2]);
    expect(await places('engine -ada')).toEqual([1, 2]);
    expect(await places('enginery -engines')).toEqual([2]);
    expect(await places('"engines of ada"')).toEqual([0]);
    expect(await places('the')).toEqual([]);
  });

  test('200 — an entity of 100,000 different characters of four bytes is found by its last word', async () => {
    const word = (n: number) =>
      String.fromCodePoint(0x10400 + (n % 40), 0x10400 + (Math.floor(n / 40) % 40), 0x10400 + Math.floor(n / 1600));
    const name = Array.from({ length: 14_000 }, (_, n) => word(n)).join(' ');
    await declareIndexed(service(), 'long', { ...company, 'x-search': { fields: ['name'], language: 'english' } });
    const created = await service().call('POST', '/rest/entity/long', { headers: ada, json: { name } });
    expect(created.status).toBe(201);
    const answer = await list(service(), ada, 'long', { search: word(13_900) });
    expect(answer.body.items).toHaveLength(1);
  });

  test('200 — the best matches come first: words in the first field weigh more, and more words more', async () => {
    expect(await found({ search: 'london' })).toEqual([5, 0, 1, 2]);
    expect(await found({ search: 'london', limit: 1 })).toEqual([5, 0, 1, 2]);
  });

  test('200 — backwards by prev', async () => {
    const pages = await pagesOf(service(), ada, 'company', { search: 'london', limit: 1 });
    const { body } = await list(service(), ada, 'company', { search: 'london', limit: 1, cursor: pages[3]?.prev ?? '' });
    expect(keysIn([body])).toEqual([keys[1]]);
  });

  test('200 — with a filter, a sort and a count', async () => {
    const query = { search: 'london', filter: { n: { $gt: 1 } }, sort: ['-n'], limit: 1 };
    expect(await found(query)).toEqual([5, 2, 1]);
    for (const count of ['exact', 'capped', 'estimated'])
      expect((await list(service(), ada, 'company', { ...query, count })).body.count).toEqual({ value: 3, kind: 'exact' });
    expect(await found({ search: 'london', filter: { note: 'engines' } })).toEqual([2]);
    expect(await found({ search: 'london', filter: { city: 'London' }, sort: ['note'] })).toEqual([2, 1, 5]);
  });

  test('200 — own entities alone, whatever is found among others (rule 64)', async () => {
    expect(await found({ search: 'london' }, bob)).toEqual([0, 2]);
    expect((await list(service(), bob, 'company', { search: 'london', count: 'exact' })).body.count).toEqual({ value: 2, kind: 'exact' });
  });

  test('200 — by key when more match than are sorted, also page by page', async () => {
    Object.assign(listLimits, { candidates: 3 });
    expect(await found({ search: 'london', limit: 2 })).toEqual([0, 1, 2, 5]);
    expect(await found({ search: 'london', limit: 2 }, bob)).toEqual([0, 2]);
    expect(await found({ search: 'london', sort: ['n'] })).toEqual([0, 1, 2, 5]);
  });

  test('400 — a cursor of another search', async () => {
    const { body } = await list(service(), ada, 'company', { search: 'london', limit: 1 });
    const answer = await list<ProblemBody>(service(), ada, 'company', { search: 'paris', limit: 1, cursor: body.next ?? '' });
    expect([answer.status, faultsIn(answer)]).toEqual([400, ['cursor invalid-cursor']]);
  });

  test('422 — of a name without texts to search', async () => {
    for (const name of ['plain', 'undeclared']) {
      const answers = [
        await list<ProblemBody>(service(), ada, name, { search: 'x' }),
        await queryBy<ProblemBody>(service(), ada, name, { search: 'x' }),
      ];
      expect(answers.map((answer) => [answer.status, answer.body.code, faultsIn(answer)])).toEqual([
        [422, 'validation-failed', ['search not-filterable']],
        [422, 'validation-failed', ['/search not-filterable']],
      ]);
    }
  });

  test('422 — with a sort without an index and too many matches', async () => {
    Object.assign(listLimits, { candidates: 3 });
    const answer = await list<ProblemBody>(service(), ada, 'company', { search: 'london', sort: ['note'] });
    expect([answer.status, answer.body.code, ...faultsIn(answer)]).toEqual([422, 'query-too-expensive', 'sort needs-index']);
  });

  test.for([
    ['', [422, ['/search too-short']], [400, ['search too-short']]],
    ['x'.repeat(201), [422, ['/search too-long']], [400, ['search too-long']]],
    ['a\u0000b', [400, ['/search nul-character']], [400, ['search invalid-encoding']]],
  ] as const)('400 and 422 — for %j', async ([search, queried, listed]) => {
    const answers = [
      await queryBy<ProblemBody>(service(), ada, 'company', { search }),
      await list<ProblemBody>(service(), ada, 'company', { search }),
    ];
    expect(answers.map((answer) => [answer.status, faultsIn(answer)])).toEqual([queried, listed]);
  });
});
