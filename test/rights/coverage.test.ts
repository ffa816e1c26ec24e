/** Rules over rows: each digest has statements and write groups of its own, and every statement has the condition of its rule (rule 64). */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TimeoutClient } from '../../src/database/driver/timeout-client.ts';
import { accessPathOf, describePath } from '../../src/entities/querying/access-path.ts';
import { bindQuery } from '../../src/entities/querying/bind.ts';
import { affordablePath, readPage } from '../../src/entities/querying/page.ts';
import { executeGrouped } from '../../src/entities/writing/execute.ts';
import { untyped } from '../../src/entities/writing/rules.ts';
import { lockInOrder } from '../../src/entities/writing/statements.ts';
import { everyEntity } from '../../src/filter/syntax.ts';
import type { Permit } from '../../src/rights/permit.ts';
import { allRows, digestOf, type Coverage, type CoverageRule } from '../../src/rights/coverage.ts';
import { wholeView } from '../../src/rights/field-view.ts';
import { ownRowsOf } from '../support/coverage.ts';
import { useService } from '../support/service.ts';
import { findEntity } from '../../src/entities/find-entity.ts';

const service = useService();
const sent = vi.spyOn(TimeoutClient.prototype, 'send');
afterAll(() => void vi.restoreAllMocks());

/** The rows whose field `team` is that of the caller. */
const ruleOf = (team: string): CoverageRule => ({
  kind: 'rule',
  digest: 'team',
  values: { owner: team },
  variables: [],
  readsOthers: false,
  fixed: [],
  candidates: undefined,
  matches: ({ row, value }) => sql<boolean>`${sql.raw(row)}.fields ->> 'team' = ${value('owner')}`,
});
const own = ownRowsOf('ada');

const permitFor = (coverage: Coverage, userName = 'ada') =>
  ({ entity: 'note', userName, sessionId: null, credential: 'command', coverage, view: wholeView }) as Permit<'update'>;

let red: string;
let blue: string;

beforeAll(async () => {
  const cookie = await service().openSession((await service().createUser('ada')).id);
  const put = async (team: string) =>
    (await service().call<{ key: string }>('POST', '/rest/entity/note', { cookie, json: { team } })).body.key;
  [red, blue] = [await put('red'), await put('blue')];
});

/** The names of the statements of `work` that begin with `entity.`. */
async function namesOf(work: () => Promise<unknown>): Promise<string[]> {
  sent.mockClear();
  await work();
  return sent.mock.calls.flatMap(([{ name = '' }]) => (name.startsWith('entity.') ? [name] : []));
}

const keyOf = async (coverage: Coverage, key: string) => (await findEntity(service().store, permitFor(coverage), key))?.key;

describe('a digest that differs', () => {
  test('is a statement of its own, and finds the rows of its rule alone', async () => {
    expect([await keyOf(ruleOf('red'), red), await keyOf(ruleOf('red'), blue), await keyOf(ruleOf('blue'), blue)]).toEqual([
      red,
      undefined,
      blue,
    ]);
    const coverages = [allRows, own, ruleOf('red'), ruleOf('blue')];
    const names = await namesOf(async () => {
      for (const coverage of coverages) await keyOf(coverage, red);
    });
    expect(names).toEqual(['entity.find-heavy', 'entity.find-heavy', 'entity.find-heavy.team', 'entity.find-heavy.team']);
    expect(coverages.map(digestOf)).toEqual(['', '', 'team', 'team']);
  });

  test('is a write group of its own, and changes the rows of its rule alone', async () => {
    const origin = { requestId: crypto.randomUUID(), address: 'unknown', userAgent: undefined };
    const change = (coverage: Coverage, key: string) => {
      const write = { ...untyped, permit: permitFor(coverage), origin, key, patch: `{"n":${key}}`, versions: null, limitBytes: 1_000 };
      return executeGrouped(service().store, { ...write, statement: 'updateOne' });
    };
    const changed: (string | undefined)[] = [];
    const names = await namesOf(async () => {
      const rows = [change(ruleOf('red'), red), change(ruleOf('red'), blue), change(allRows, blue), change(own, '1000000')];
      changed.push(...(await Promise.all(rows)).map((row) => row?.version));
    });
    expect(changed).toEqual(['2', undefined, '2', undefined]);
    expect(names.toSorted()).toEqual(['entity.update-many', 'entity.update-many.team']);
  });

  test('has its condition beside that of another digest where one statement locks rows of both', async () => {
    const locked = async (...places: [Coverage, string][]) => {
      const { rows } = await lockInOrder(places.map(([coverage, key]) => Object.assign(permitFor(coverage), { key }))).execute(
        service().db,
      );
      return rows.length;
    };
    expect(await locked([ruleOf('red'), red], [allRows, blue])).toBe(2);
    expect(await locked([ruleOf('red'), blue], [allRows, red])).toBe(1);
    expect(await locked([ruleOf('blue'), red], [own, blue])).toBe(1);
  });
});

test('a list has the rows of its rule alone', async () => {
  const path = accessPathOf(bindQuery({ filter: everyEntity, sort: [], limit: 10, bytes: 1_000 }, permitFor(ruleOf('blue')), undefined));
  expect(describePath(path)).toBe('primary key, at most 20000 rows');
  const { store } = service();
  const found = await store.readOnly(1_000, async (run) => {
    const affordable = (await affordablePath(run, path, undefined)) ?? expect.unreachable();
    return await readPage(run, affordable, undefined);
  });
  expect(found.rows.map(({ key }) => key)).toEqual([blue]);
});
