/** Sorts in the order of a language, which `x-collation` declares. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listLimits } from '../../../src/entities/querying/access-path.ts';
import { declareIndexed } from '../../support/companion.ts';
import { faultsIn, keysIn, list, pagesOf, queryBy, seedMany, type ListQuery } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const text = { type: 'string' };
const service = useService();
const usual = { ...listLimits };
const names = ['Zebra', 'apple', 'Äpfel', 'zoo', 'Apple', 'öl', 'Öl', 'ol', 'Ærø', 'Åse', 'apfel', null];
/** The names in the order that JavaScript's own collation has for the language. */
const inOrderOf = (language: string) => names.filter((name) => name !== null).toSorted(new Intl.Collator(language).compare);
const german = [...inOrderOf('de'), null];
const document = { type: 'object', properties: { name: { type: ['string', 'null'] }, city: text, rank: text } };
let ada: { cookie: string };
let bob: { cookie: string };

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada', { '*': ['type', 'read'] })).id) };
  const own = { '*': { actions: ['read' as const], condition: 'own' as const } };
  bob = { cookie: await service().openSession((await service().createUser('bob', own)).id) };
  const rows = names.map((name, n) => ({ name, city: n % 2 ? 'Ulm' : 'Bonn', rank: name ?? '' }));
  await seedMany(service(), 'person', rows, 'ada', 'bob');
  await declareIndexed(service(), 'person', {
    ...document,
    'x-collation': { name: 'de', rank: 'sv' },
    'x-index': [['name'], ['city', '-name']],
  });
});
afterEach(() => void Object.assign(listLimits, usual));

const listed = async (query: ListQuery, caller = ada, member: 'name' | 'rank' = 'name') =>
  (await pagesOf(service(), caller, 'person', query, queryBy)).flatMap(({ items }) => items.map(({ fields }) => fields[member]));

describe('a sort by a text with x-collation', () => {
  test.for([1, 2, 5, 50])('200 — has the order of the language, in pages of %i', async (limit) => {
    expect(await listed({ sort: ['name'], limit })).toEqual(german);
    expect(await listed({ sort: ['-name'], limit })).toEqual(german.toReversed());
  });

  test('200 — is read from its index alone, beside a field that is fixed, and backwards by prev', async () => {
    Object.assign(listLimits, { candidates: 0 });
    const bonn = german.filter((name) => names.indexOf(name) % 2 === 0);
    expect(await listed({ filter: { city: 'Bonn' }, sort: ['-name'], limit: 2 })).toEqual(bonn.toReversed());
    const [first, second] = await pagesOf(service(), ada, 'person', { sort: ['name'], limit: 3 });
    const back = await list(service(), ada, 'person', { sort: ['name'], limit: 3, cursor: second?.prev ?? '' });
    expect(keysIn([back.body])).toEqual(keysIn(first ? [first] : []));
    const answer = await list<ProblemBody>(service(), ada, 'person', { sort: ['rank'] });
    expect([answer.status, ...faultsIn(answer)]).toEqual([422, 'sort needs-index']);
  });

  test('200 — has the same order without an index, and for callers with rights on own entities', async () => {
    expect((await listed({ sort: ['rank'], limit: 4 }, ada, 'rank')).filter((name) => name !== '')).toEqual(inOrderOf('sv'));
    const own = german.filter((name) => names.indexOf(name) % 2 === 0);
    expect(await listed({ sort: ['name'], limit: 2 }, bob)).toEqual(own);
  });

  test('200 — leaves filters to code points: equality is exact, and ranges are of code points', async () => {
    expect(await listed({ filter: { name: 'apple' } })).toEqual(['apple']);
    expect(await listed({ filter: { name: { $in: ['Öl', 'öl'] } }, sort: ['name'] })).toEqual(['öl', 'Öl']);
    expect(await listed({ filter: { name: { $gt: 'z' } }, sort: ['name'] })).toEqual(german.filter((name) => name !== null && name > 'z'));
    expect(await listed({ filter: { name: { $prefix: 'ap' } }, sort: ['-name'] })).toEqual(
      german.toReversed().filter((name) => name?.startsWith('ap')),
    );
  });

  test('400 — with a cursor from before the language changed', async () => {
    await seedMany(
      service(),
      'moved',
      names.map((name) => ({ name })),
      'ada',
    );
    const declare = (language: string) =>
      declareIndexed(service(), 'moved', { ...document, 'x-collation': { name: language }, 'x-index': [['name']] });
    await declare('de');
    const { body } = await list(service(), ada, 'moved', { sort: ['name'], limit: 4 });
    await declare('sv');
    const answer = await list<ProblemBody>(service(), ada, 'moved', { sort: ['name'], limit: 4, cursor: body.next ?? '' });
    expect([answer.status, ...faultsIn(answer)]).toEqual([400, 'cursor invalid-cursor']);
    const sorted = (await list(service(), ada, 'moved', { sort: ['-name'], limit: 3 })).body.items.map(({ fields }) => fields['name']);
    expect(sorted).toEqual([null, 'Öl', 'öl']);
  });

  test('422 — of a language that PostgreSQL does not have, of a field that is no text, and of another form', async () => {
    const plan = async (collation: unknown) => {
      const json = { document: { ...document, properties: { ...document.properties, n: { type: 'number' } }, 'x-collation': collation } };
      const answer = await service().call('POST', '/rest/entity-type/other/plan', { ...ada, json });
      return [answer.status, ...(answer.status === 422 ? faultsIn(answer) : [])];
    };
    expect(await plan({ name: 'de', city: 'de-AT' })).toEqual([200]);
    expect(await plan({ name: 'xq' })).toEqual([422, '/document/x-collation/name not-supported']);
    expect(await plan({ n: 'de' })).toEqual([422, '/document/x-collation/n invalid-type']);
    expect(await plan({ absent: 'de' })).toEqual([422, '/document/x-collation/absent unknown-field']);
    expect(await plan({ name: 'German' })).toEqual([422, '/document/x-collation/name invalid-value']);
  });
});
