/**
 * Lists of entities. What a request costs is bounded before it runs: a list by key looks at a number of rows and may answer a short page; a list
 * in another order needs few candidates; and PostgreSQL ends what takes longer anyway (decision 111).
 */
import type { CompiledQuery } from 'kysely';
import type { components } from '../../generated/api.ts';
import { JsonText } from '../contract/operation.ts';
import { exceededStatementTime } from '../database/failure.ts';
import type { Store } from '../database/port.ts';
import { Problem, type Fault } from '../errors.ts';
import { isEnvelopeName, isKey } from '../filter/fields.ts';
import { orderOf, reversed, type RowPosition } from '../filter/order.ts';
import { entitySource } from '../filter/source.ts';
import { all, conjuncts, testsOf, type Filter } from '../filter/syntax.ts';
import { looksLikeName } from '../http/pointer.ts';
import type { Permit } from '../rights/permit.ts';
import { permitValues } from '../rights/row-predicate.ts';
import type { Cursors } from './cursors.ts';
import {
  budgetEndQuery,
  candidatesQuery,
  countQuery,
  estimateQuery,
  pageQuery,
  type ListRow,
  type PageQuery,
  type Selection,
} from './list-statements.ts';
import { readIncluded, type Included } from './included.ts';
import type { ListRequest } from './list-request.ts';
import { representEntity } from './represent.ts';

/** The most rows that are looked at for a page by key, the most if the fields of each have to be read, and the most tests of fields. */
const budgets = { rows: 20_000, rowsWithFields: 5_000, tests: 20_000 };
/** The most rows that are sorted without an index, and the most that are counted unless the caller wants them all. */
const maximumCandidates = 10_000;
const maximumCounted = 10_000;
/** 8 MiB with what surrounds the fields of a thousand entities, and the same with what is included. */
const maximumBytes = 7.5 * 2 ** 20;
/** For all statements of a page, in milliseconds. */
const pageLimitMs = 2_000;

type Page = components['schemas']['EntityPage'];
/** The JSON of a page, and the cursors in it. */
export interface ListedPage {
  body: JsonText<Page>;
  next: string | undefined;
  prev: string | undefined;
}

type Run = <R>(query: CompiledQuery<R>) => Promise<R[]>;

/** Reads a page. Throws 400 for a cursor of another list, and 422 `query-too-expensive` for what would cost too much. */
export async function listEntities(store: Store, cursors: Cursors, permit: Permit<'read'>, request: ListRequest): Promise<ListedPage> {
  const list = new List(cursors, permit, request);
  const position = await list.readCursor();
  if (list.isCheap && request.count === 'none') return await list.page((query) => store.query(query), position);
  return await store.readOnly(pageLimitMs, (run) => list.page(run, position));
}

class List {
  readonly #cursors: Cursors;
  readonly #request: ListRequest;
  readonly #selection: Selection;
  readonly #order: ReturnType<typeof orderOf>;
  readonly #binding: string;
  readonly #budget: number | undefined;

  constructor(cursors: Cursors, permit: Permit<'read'>, request: ListRequest) {
    this.#cursors = cursors;
    this.#request = request;
    const { keys = [], rest = [] } = Object.groupBy(conjuncts(request.filter), (test) => (isServed(test) ? 'keys' : 'rest'));
    this.#selection = { permit: permitValues(permit), keys: all(keys), rest: all(rest) };
    this.#order = orderOf(request.sort, entitySource);
    // With the types, because the values of a cursor are cast to them.
    this.#binding = JSON.stringify([permit.userName, permit.entity, request.canonical, this.#order.columns.map(({ sqlType }) => sqlType)]);
    const looksAtMore = rest.length > 0 || permit.ownOnly;
    this.#budget = this.#isByKey && looksAtMore ? budgetOf(all(rest)) : undefined;
  }

  get #isByKey(): boolean {
    return this.#order.columns.length === 0;
  }

  /** Whether PostgreSQL finds each row of a page without looking at others. */
  get isCheap(): boolean {
    return this.#isByKey && this.#budget === undefined;
  }

  async readCursor() {
    const { cursor, carrier } = this.#request;
    if (cursor === undefined) return undefined;
    const position = await this.#cursors.open(cursor, this.#binding);
    if (!position) throw new Problem('malformed-request', { faults: [{ ...carrier.place('cursor'), code: 'invalid-cursor' }] });
    return position;
  }

  async page(run: Run, from: Awaited<ReturnType<List['readCursor']>>): Promise<ListedPage> {
    if (!this.#isByKey) await this.#requireFewCandidates(run);
    const { limit, projection, includes } = this.#request;
    const backwards = from?.direction === 'prev';
    const order = backwards ? reversed(this.#order) : this.#order;
    const query: PageQuery = {
      ...this.#selection,
      order,
      after: from,
      limit,
      budget: this.#budget,
      bytes: maximumBytes,
      projection,
      includes,
    };
    const found = await this.#within('filter', () => run(pageQuery(query)));
    const cut = found.findIndex(({ fields }, index) => fields === null || index === limit);
    const fitting = cut === -1 ? found : found.slice(0, cut);
    const texts = fitting.map((row) => representEntity({ ...row, fields: row.fields ?? '{}' }).text);
    const included = await this.#include(run, fitting, texts);
    const rows = fitting.slice(0, included?.kept);
    const isCut = cut !== -1 || rows.length < fitting.length;
    const onwards = isCut ? positionOf(rows.at(-1)) : await this.#endOfBudget(run, query);
    const back = from && positionOf(rows[0]);
    const items = texts.slice(0, rows.length);
    if (backwards) items.reverse();
    const count = await this.#count(run);
    const [next, prev] = await Promise.all([
      this.#seal('next', backwards ? back : onwards),
      this.#seal('prev', backwards ? onwards : back),
    ]);
    const counted = count ? `,"count":${JSON.stringify(count)}` : '';
    const body = new JsonText<Page>(
      `{"items":[${items.join(',')}],"next":${quoted(next)},"prev":${quoted(prev)}${counted}${included ? `,${included.members}` : ''}}`,
    );
    return { body, next, prev };
  }

  /** What the rows refer to; undefined if the caller does not want it. */
  async #include(run: Run, rows: readonly ListRow[], texts: readonly string[]): Promise<Included | undefined> {
    if (this.#request.includes.length === 0) return undefined;
    const items = rows.map(({ references }, index) => ({ text: texts[index] ?? '', references: references ?? [] }));
    return await this.#within('include', () => readIncluded(run, items, this.#request, maximumBytes));
  }

  /** Throws 422 `query-too-expensive` if the list would be sorted without an index and is long. */
  async #requireFewCandidates(run: Run): Promise<void> {
    const [row] = await this.#within('sort', () => run(candidatesQuery(this.#selection, maximumCandidates + 1)));
    if (!row || row.count <= maximumCandidates) return;
    const fields = this.#request.sort.map(({ field }) => field);
    const values = fields.flat().every(looksLikeName) ? { fields: fields.map((field) => field.join('.')).join(', ') } : undefined;
    throw tooExpensive({ ...this.#request.carrier.place('sort'), code: 'needs-index', ...(values && { values }) });
  }

  /** Where the budget of the page ended; undefined if the list did. */
  async #endOfBudget(run: Run, query: PageQuery): Promise<RowPosition | undefined> {
    if (query.budget === undefined) return undefined;
    const { budget } = query;
    const [row] = await this.#within('filter', () => run(budgetEndQuery(query, budget)));
    return row && { values: [], key: row.key };
  }

  async #count(run: Run): Promise<Page['count']> {
    const kind = this.#request.count;
    if (kind === 'none') return undefined;
    const [row] = await this.#within('count', () => run(countQuery(this.#selection, kind === 'exact' ? undefined : maximumCounted + 1)));
    const value = Number(row?.count);
    if (kind === 'exact' || value <= maximumCounted) return { value, kind: 'exact' };
    if (kind === 'capped') return { value: maximumCounted, kind };
    const [plan] = await this.#within('count', () => run(estimateQuery(this.#selection)));
    return { value: Math.max(roundedTo2Digits(plan?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0), maximumCounted), kind };
  }

  async #seal(direction: 'next' | 'prev', position: RowPosition | undefined): Promise<string | undefined> {
    return position && (await this.#cursors.seal({ direction, ...position }, this.#binding));
  }

  /** Runs a statement. If it takes too long, throws 422 with the part of the query that is at fault. */
  async #within<T>(member: 'filter' | 'sort' | 'include' | 'count', statement: () => Promise<T>): Promise<T> {
    try {
      return await statement();
    } catch (error) {
      if (!exceededStatementTime(error)) throw error;
      throw tooExpensive({ ...this.#request.carrier.place(member), code: 'needs-index' }, error);
    }
  }
}

const tooExpensive = (fault: Fault, cause?: unknown) => new Problem('query-too-expensive', { faults: [fault], cause });

function budgetOf(filter: Filter): number {
  const tests = testsOf(filter).filter(({ field }) => !isEnvelopeName(field[0])).length;
  return tests === 0 ? budgets.rows : Math.min(budgets.rowsWithFields, Math.floor(budgets.tests / tests));
}

/** Whether the primary key finds the rows that the test allows. */
function isServed(test: Filter): boolean {
  return (test.kind === 'compare' || test.kind === 'in') && isKey(test.field);
}

function positionOf(row: ListRow | undefined): RowPosition | undefined {
  return row && { values: row.position, key: row.key };
}

const quoted = (cursor: string | undefined) => JSON.stringify(cursor ?? null);

function roundedTo2Digits(value: number): number {
  return Number(value.toPrecision(2));
}
