/** Views of fields: statements that answer with fields show those of the view. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { findVersion } from '../../src/entities/history/history.ts';
import { bindQuery } from '../../src/entities/querying/bind.ts';
import { accessPathOf } from '../../src/entities/querying/access-path.ts';
import { includedQuery, viewQuery } from '../../src/entities/querying/include-statements.ts';
import { affordablePath, readPage } from '../../src/entities/querying/page.ts';
import { everyEntity } from '../../src/filter/syntax.ts';
import { allRows } from '../../src/rights/coverage.ts';
import { wholeView, type FieldView, type PartialView } from '../../src/rights/field-view.ts';
import type { Permit } from '../../src/rights/permit.ts';
import { useService } from '../support/service.ts';
import { findEntity, findLight } from '../../src/entities/find-entity.ts';

const service = useService();
/** All fields but the margin. */
const view: PartialView = {
  kind: 'part',
  digest: 'margin',
  readsOthers: false,
  cut: (fields) => sql`(${fields} - 'margin')`,
  values: {},
  showing: (name) => (name === 'margin' ? 'never' : 'always'),
};
const permitFor = (of: FieldView, entity = 'order') =>
  ({ entity, userName: 'ada', sessionId: null, credential: 'command', coverage: allRows, view: of }) as Permit<'update'>;
const readOf = (of: FieldView, entity?: string) => permitFor(of, entity) as unknown as Permit<'read'>;

let cookie: string;
let key: string;

async function put(name: string): Promise<string> {
  return (await service().call<{ key: string }>('POST', `/rest/entity/${name}`, { cookie, json: { note: 'a', margin: 5 } })).body.key;
}

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  key = await put('order');
});

const run = <R>(query: { sql: string; parameters: readonly unknown[] }) =>
  service().db.executeQuery<R>({ ...query, query: undefined as never, queryId: undefined as never });

describe('a part of the fields is shown', () => {
  test.for<[string, (of: FieldView) => Promise<string | null | undefined>]>([
    ['an entity', async (of) => (await findEntity(service().store, permitFor(of), key))?.fields],
    ['a light entity', async (of) => (await findLight(service().store, readOf(of), key))?.fields],
    ['a version', async (of) => (await findVersion(service().store, permitFor(of), key, '1', 'P1D'))?.fields],
    ['named fields', async (of) => (await run<{ fields: string }>(viewQuery(readOf(of), key, undefined, []))).rows[0]?.fields],
    [
      'a page',
      async (of) => {
        const path = accessPathOf(bindQuery({ filter: everyEntity, sort: [], limit: 10, bytes: 1_000 }, permitFor(of), undefined));
        return await service().store.readOnly(1_000, async (each) => {
          const affordable = (await affordablePath(each, path, undefined)) ?? expect.unreachable();
          return (await readPage(each, affordable, undefined)).rows[0]?.fields;
        });
      },
    ],
  ])('in %s', async ([, fieldsOf]) => {
    expect(JSON.parse((await fieldsOf(wholeView)) ?? '')).toEqual({ note: 'a', margin: 5 });
    expect(JSON.parse((await fieldsOf(view)) ?? '')).toEqual({ note: 'a' });
  });

  test('of each name by its own view where an answer includes several', async () => {
    const other = await put('invoice');
    const wanted = [
      { permit: readOf(view), positions: new Map([[key, 0]]), further: [] },
      { permit: readOf(wholeView, 'invoice'), positions: new Map([[other, 1]]), further: [] },
    ];
    const { rows } = await run<{ fields: string }>(includedQuery(wanted, 1_000));
    expect(rows.map(({ fields }) => JSON.parse(fields) as object)).toEqual([{ note: 'a' }, { note: 'a', margin: 5 }]);
  });
});

test('a statement that reads fields as text without a view answers no caller', () => {
  const root = join(import.meta.dirname, '../..');
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) =>
    /(?<!octet_length\()\bfields::text/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(files.toSorted()).toEqual([
    // It is filled from all fields.
    'src/entities/companion/scan.ts',
    // Their rows have the shown fields alone.
    'src/entities/history/history.ts',
    'src/entities/querying/include-statements.ts',
    'src/entities/querying/projection.ts',
    // The answer of a write, of which the judgement shows a part.
    'src/entities/row.ts',
    // These are checked with all fields.
    'src/entities/trash.ts',
    'src/entities/writing/judge.ts',
  ]);
});
