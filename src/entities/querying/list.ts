/**
 * Lists of entities. What a request costs is bounded before it runs. A list by key reads a limited number of rows and may answer a short
 * page. A list in another order needs few candidates. PostgreSQL ends what takes longer anyway (decision 111).
 */
import type { components } from '../../../generated/api.ts';
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { indexedMember } from '../companion/rules.ts';
import { JsonText } from '../../contract/operation.ts';
import { withoutTransaction, type Run } from '../../database/read-transaction.ts';
import type { LogPosition } from '../../database/standby/log-position.ts';
import type { Reads } from '../../database/standby/readers.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { isOfEnvelope } from '../../filter/fields.ts';
import type { RowPosition } from '../../filter/order.ts';
import type { Filter } from '../../filter/syntax.ts';
import { looksLikeName } from '../../problems/pointer.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/row-predicate.ts';
import { atPosition, type CursorPosition, type Cursors } from './cursors.ts';
import { contentTag, etagOf } from '../etag.ts';
import { accessPathOf, isOneStatement, type AccessPath } from './access-path.ts';
import { bindQuery, type BoundQuery } from './bind.ts';
import { selectedRowsOf } from './column-statements.ts';
import { countQuery, estimateQuery } from './list-statements.ts';
import { readIncluded, type Included } from './included.ts';
import type { ListRequest } from './list-request.ts';
import { describePath, shownPath } from './describe-path.ts';
import { followMatches, hasMatch } from './match.ts';
import { representEntity } from '../represent.ts';
import { affordablePath, positionOf, readPage, type PageRow } from './page.ts';
import { withinTimeLimit } from './time-limit.ts';

/** The most entities that are counted unless the caller wants them all. */
const maximumCounted = 10_000;
/** 8 MiB with what surrounds the fields of a thousand entities, and the same with what is included. */
const maximumBytes = 7.5 * 2 ** 20;
/** For all statements of a page, in milliseconds. */
const pageLimitMs = 2_000;

type Page = components['schemas']['EntityPage'];
interface Edges {
  next: string | undefined;
  prev: string | undefined;
}

/** The JSON of a page, and the cursors in it. */
export interface ListedPage extends Edges {
  body: JsonText<Page>;
  /** The hash of what the page has, without the place of the log in its cursors. */
  tag: string;
  etag: string;
  path: AccessPath;
}

/** A page whose cursors have no place of the log. */
interface FoundPage extends Edges {
  path: AccessPath;
  /** The JSON of the page with other cursors. */
  textWith: (edges: Edges) => string;
}

/**
 * Reads a page. Throws 400 for a cursor of another list, 422 `query-too-expensive` for what would cost too much, and 503 `busy` for what
 * takes too long.
 */
export async function listEntities(
  reads: Reads,
  cursors: Cursors,
  permit: Permit<'read' | 'update'>,
  request: ListRequest,
  companion: Companion | null | undefined,
): Promise<ListedPage> {
  // An entity in the trash has no row there.
  const table = request.isTrash ? undefined : companion;
  assertSearchable(request, table);
  const listOf = (filter: Filter) => new List(cursors, permit, { ...request, filter }, (table && readableCompanion(table)) ?? undefined);
  const page = await findPage(reads, request, listOf);
  const isWhole = page.next === undefined && page.prev === undefined;
  return at(page, isWhole ? undefined : await reads.position());
}

async function findPage(reads: Reads, { filter, targets, carrier }: ListRequest, listOf: (filter: Filter) => List): Promise<FoundPage> {
  if (hasMatch(filter))
    return await reads.readOnly(pageLimitMs, async (run) => {
      const list = listOf(await withinTimeLimit(carrier.place('filter'), () => followMatches(run, filter, targets)));
      return await list.page(run, await list.openCursor());
    });
  const list = listOf(filter);
  const cursor = await list.openCursor();
  if (list.isOneStatement) return await list.page(withoutTransaction(reads), cursor);
  return await reads.readOnly(pageLimitMs, (run) => list.page(run, cursor));
}

/** The page with the place of the log in its cursors. */
function at({ next, prev, path, textWith }: FoundPage, position: LogPosition | undefined): ListedPage {
  const text = textWith({ next, prev });
  const tag = contentTag(text);
  const body = (json: string) => new JsonText<Page>(json);
  if (!position) return { next, prev, path, tag, body: body(text), etag: etagOf(tag) };
  const edges = { next: atPosition(next, position), prev: atPosition(prev, position) };
  return { ...edges, path, tag, body: body(textWith(edges)), etag: `W/${etagOf(tag)}` };
}

/** Throws 422 for a search of a type without texts to search, or whose index of texts is being built. */
export function assertSearchable(
  { search, carrier }: Pick<ListRequest, 'search' | 'carrier'>,
  companion: Companion | null | undefined,
): void {
  if (search === undefined || (companion && readableCompanion(companion)?.search)) return;
  const place = carrier.place('search');
  if (companion?.search) throw tooExpensive({ ...place, code: 'needs-index' });
  throw new Problem('validation-failed', { faults: [{ ...place, code: 'not-filterable' }] });
}

class List {
  readonly #cursors: Cursors;
  readonly #request: ListRequest;
  readonly #permit: Permit<'read' | 'update'>;
  readonly #query: BoundQuery;
  readonly #path: AccessPath;
  readonly #binding: string;

  constructor(cursors: Cursors, permit: Permit<'read' | 'update'>, request: ListRequest, companion: Companion | undefined) {
    this.#cursors = cursors;
    this.#request = request;
    this.#permit = permit;
    const { filter, search, sort, limit, projection, includes, isTrash } = request;
    const page = { limit, bytes: maximumBytes, projection, includes, isTrash };
    this.#query = bindQuery({ filter, search, sort, ...page, isRanked: true }, permitValues(permit), companion);
    this.#path = accessPathOf(this.#query);
    // With the types, because the values of a cursor are cast to them.
    const types = this.#query.order.columns.map(({ sqlType, collation = '', isCut }) =>
      `${sqlType} ${collation} ${isCut ? 'cut' : ''}`.trim(),
    );
    this.#binding = JSON.stringify([permit.userName, permit.entity, request.canonical, types]);
  }

  get isOneStatement(): boolean {
    return isOneStatement(this.#path) && this.#request.count === 'none';
  }

  async openCursor(): Promise<CursorPosition | undefined> {
    const { cursor, carrier } = this.#request;
    if (cursor === undefined) return undefined;
    const position = await this.#cursors.open(cursor, this.#binding);
    if (!position) throw new Problem('malformed-request', { faults: [{ ...carrier.place('cursor'), code: 'invalid-cursor' }] });
    return position;
  }

  async page(run: Run, cursor: CursorPosition | undefined): Promise<FoundPage> {
    const path = await this.#within('sort', () => affordablePath(run, this.#path, cursor));
    if (!path) throw this.#needsIndex();
    const found = await this.#within('filter', () => readPage(run, path, cursor));
    const texts = found.rows.map((row) => representEntity(row).text);
    const included = await this.#include(run, found.rows, texts);
    const rows = found.rows.slice(0, included?.kept);
    const onwards = rows.length < found.rows.length ? positionOf(rows.at(-1)) : found.next;
    const back = cursor && positionOf(rows[0]);
    const isBackwards = cursor?.direction === 'prev';
    const items = texts.slice(0, rows.length);
    if (isBackwards) items.reverse();
    const count = await this.#count(run);
    const [next, prev] = await Promise.all([
      this.#seal('next', isBackwards ? back : onwards),
      this.#seal('prev', isBackwards ? onwards : back),
    ]);
    const counted = count ? `,"count":${JSON.stringify(count)}` : '';
    const end = `${counted}${included ? `,${included.members}` : ''}}`;
    const textWith = (edges: Edges) => `{"items":[${items.join(',')}],"next":${quoted(edges.next)},"prev":${quoted(edges.prev)}${end}`;
    return { next, prev, path, textWith };
  }

  /** What the rows refer to; undefined if the caller does not want it. */
  async #include(run: Run, rows: readonly PageRow[], texts: readonly string[]): Promise<Included | undefined> {
    if (this.#request.includes.length === 0) return undefined;
    const items = rows.map(({ references }, index) => ({ text: texts[index] ?? '', references: references ?? [] }));
    return await this.#within('include', () => readIncluded(run, items, this.#request, maximumBytes));
  }

  /** The list would be sorted without an index, and is long. An index of these fields would have the order. */
  #needsIndex(): Problem {
    const fields = this.#request.sort.map(({ field }) => field);
    const names = this.#request.sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.join('.')}`);
    const isNamed =
      fields.length > 0 && fields.every((field) => (isOfEnvelope(field) ? field.every(indexedMember) : field.every(looksLikeName)));
    const fieldsOfIndex = isNamed ? { fields: (this.#permit.ownOnly ? ['$createdBy', ...names] : names).join(', ') } : {};
    const values = { ...fieldsOfIndex, ...shownPath(this.#permit, describePath(this.#path)) };
    const place = this.#request.carrier.place(fields.length === 0 ? 'search' : 'sort');
    return tooExpensive({ ...place, code: 'needs-index', values });
  }

  async #count(run: Run): Promise<Page['count']> {
    const kind = this.#request.count;
    if (kind === 'none') return undefined;
    const selected = selectedRowsOf(this.#query);
    const [row] = await this.#within('count', () => run(countQuery(selected, kind === 'exact' ? undefined : maximumCounted + 1), 'any'));
    const value = Number(row?.count);
    if (kind === 'exact' || value <= maximumCounted) return { value, kind: 'exact' };
    // An estimate is made of all rows with a value, also those of others (rule 64).
    if (kind === 'capped' || this.#permit.ownOnly) return { value: maximumCounted, kind: 'capped' };
    const [plan] = await this.#within('count', () => run(estimateQuery(selected), 'any'));
    return { value: Math.max(roundedTo2Digits(plan?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0), maximumCounted), kind };
  }

  async #seal(direction: 'next' | 'prev', position: RowPosition | undefined): Promise<string | undefined> {
    return position && (await this.#cursors.seal({ direction, ...position }, this.#binding));
  }

  #within<T>(member: 'filter' | 'sort' | 'include' | 'count', statement: () => Promise<T>): Promise<T> {
    return withinTimeLimit(this.#request.carrier.place(member), statement);
  }
}

const tooExpensive = (fault: Fault) => new Problem('query-too-expensive', { faults: [fault] });

const quoted = (cursor: string | undefined) => JSON.stringify(cursor ?? null);

function roundedTo2Digits(value: number): number {
  return Number(value.toPrecision(2));
}
