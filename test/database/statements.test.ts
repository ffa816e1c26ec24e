/**
 * The statements of the service, in `generated/statements.sql`, for review: a change of one shows as a difference of this file. `npm test --
 * test/database/statements.test.ts --update` writes it anew.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { preparedStatements } from '../../src/database/driver/statement-names.ts';
import { TimeoutClient } from '../../src/database/driver/timeout-client.ts';
import { writeStatementsOf } from '../../src/entities/writing/write-statements.ts';
import { declareWithRules } from '../support/companions.ts';
import { listPath, type ListQuery } from '../support/lists.ts';
import { useService } from '../support/service.ts';
import { formatSql } from '../support/sql-text.ts';
import { fullRights } from '../../src/rights/field-view.ts';

const service = useService();
const root = join(import.meta.dirname, '../..');
const sources = globSync('src/**/*.ts', { cwd: root })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  .filter(({ text }) => /\bprepare(?:Grouped|Covered)?[<(]/.test(text));

const customer = {
  properties: { number: { type: 'integer' }, name: { type: 'string', maxLength: 100 }, city: { type: 'string', maxLength: 100 } },
  'x-unique': [{ fields: ['number'] }],
  'x-index': [['city'], { field: 'name', fold: true }],
  'x-search': { fields: ['name', 'city'] },
};
const order = {
  properties: {
    number: { type: 'string', maxLength: 20 },
    customer: { type: 'string', format: 'int64' },
    state: { enum: ['open', 'paid', 'sent'] },
    placedAt: { type: 'string', format: 'date-time' },
    total: { type: 'string', format: 'decimal' },
  },
  'x-unique': [{ fields: ['number'] }],
  'x-index': [['customer', 'state', '-placedAt'], ['state'], ['placedAt']],
  'x-references': { customer: { to: 'customer', onDelete: 'restrict' } },
  'x-soft-delete': { keep: 'P7D' },
};

let cookie: string;
const sent = vi.spyOn(TimeoutClient.prototype, 'send');

beforeAll(async () => {
  for (const { file } of sources) await import(join(root, file));
  const { id } = await service().createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'purge'] });
  cookie = await service().openSession(id);
  // No periodic job sends statements beside those of a request.
  await service().context.background.stop();
});
afterAll(() => void vi.restoreAllMocks());

/** The room of the file that gives a prepared statement this name. */
function roomOf(name: string): string {
  const source = sources.find(({ text }) => text.includes(`'${name}'`));
  if (!source) throw new Error(`no file has the name ${name}`);
  return dirname(source.file);
}

const titled = (title: string, room: string, texts: string[]) => `-- ${title}\n-- ${room}\n${texts.join('\n\n')}\n`;

function preparedParts(): string[] {
  const names = [...preparedStatements().keys()].filter((name) => !name.startsWith('test.'));
  return names.toSorted().map((name) => titled(name, roomOf(name), [`${formatSql(preparedStatements().get(name) ?? '')};`]));
}

/** Writes of a type with indexes, unique rules and references. */
async function companionParts(): Promise<string[]> {
  const companion = await declareWithRules(service(), 'sample', order);
  return Object.values(writeStatementsOf(companion, fullRights))
    .map(({ work: { name, attributes } }) => ({ name, text: String(attributes?.['db.query.text']) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, text }) => titled(`${name}, with the table of a type`, roomOf(name), [`${formatSql(text)};`]));
}

const lists: [title: string, name: string, query: ListQuery][] = [
  ['by key', 'note', { limit: 2 }],
  ['a filter without an index', 'note', { filter: { a: { $gte: 1 }, $createdBy: 'ada' } }],
  ['a sort without an index', 'note', { sort: ['-a', '$key'] }],
  ['a count', 'note', { filter: { a: 1 }, count: 'exact' }],
  ['an estimate', 'note', { filter: { a: 1 }, count: 'estimated' }],
  ['named fields', 'note', { fields: ['a'] }],
  ['an index with the order of the sort', 'order', { filter: { state: 'open' }, sort: ['-placedAt'] }],
  ['an index of a filter', 'order', { filter: { customer: '1', state: { $in: ['open', 'paid'] } } }],
  ['a range of an index', 'order', { filter: { placedAt: { $gte: '2026-01-01T00:00:00Z', $lt: '2026-02-01T00:00:00Z' } } }],
  ['alternatives by indexes', 'order', { filter: { $or: [{ state: 'open' }, { number: 'A-1' }] } }],
  ['a unique rule', 'order', { filter: { number: 'A-1' } }],
  ['a filter through a reference', 'order', { filter: { customer: { $match: { city: 'London' } } } }],
  ['included entities', 'order', { include: ['customer'] }],
  ['a search', 'customer', { search: 'wool london' }],
  ['texts without case', 'customer', { filter: { name: { $fold: { $prefix: 'wo' } } } }],
];

async function listParts(): Promise<string[]> {
  const parts: string[] = [];
  for (const [title, name, query] of lists) {
    const url = listPath(name, query);
    sent.mockClear();
    const answer = await service().inject({ method: 'GET', url, headers: { cookie } });
    expect(answer.statusCode, `${title}: ${answer.body}`).toBe(200);
    const texts = sent.mock.calls.map(([{ name: prepared, text }]) =>
      prepared !== undefined && preparedStatements().has(prepared) ? `-- runs ${prepared}` : `${formatSql(text)};`,
    );
    parts.push(titled(`GET ${decodeURIComponent(url).replaceAll('+', ' ')}: ${title}`, 'src/entities/querying', texts));
  }
  return parts;
}

test('generated/statements.sql has every prepared statement, the writes of a type, and the statements of sampled lists (check 33 of rights)', async () => {
  await declareWithRules(service(), 'customer', customer);
  await declareWithRules(service(), 'order', order);
  for (const [name, fields] of [
    ['customer', { number: 1, name: 'Wool and more', city: 'London' }],
    ['note', { a: 1 }],
  ] as const)
    expect((await service().call('POST', `/rest/entity/${name}`, { cookie, json: fields })).status).toBe(201);
  const onEntity = [...preparedStatements()].filter(
    ([name, text]) => !name.startsWith('test.') && /\b(?:from|join|into|update) "?entity\b/.test(text),
  );
  expect(onEntity.length).toBeGreaterThan(15);
  expect(onEntity.map(([name]) => roomOf(name)).filter((room) => !/^src\/entities(\/|$)/.test(room))).toEqual([]);
  const text = [
    '-- Made by `npm test -- test/database/statements.test.ts --update`. Do not edit.',
    '-- Each statement has its name, and the room of its source.',
    '',
    '-- Prepared statements',
    '',
    ...preparedParts(),
    '-- Writes of a type with rules',
    '',
    ...(await companionParts()),
    '-- Lists',
    '',
    ...(await listParts()),
  ].join('\n');
  await expect(text).toMatchFileSnapshot('../../generated/statements.sql');
});
