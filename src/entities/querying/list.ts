/**
 * Lists of entities. What a request costs is bounded before it runs. A list by key reads a limited number of rows and may answer a short
 * page. A list in another order needs few candidates. PostgreSQL ends what takes longer anyway (decision 111).
 */
import type { components } from '../../../generated/api.ts';
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { indexedMember } from '../companion/rule-layout.ts';
import { JsonText } from '../../contract/operation.ts';
import { withoutTransaction, type Run } from '../../database/read-transaction.ts';
import type { LogPosition } from '../../database/standby/log-position.ts';
import type { Reads } from '../../database/standby/readers.ts';
import { Problem } from '../../problems/errors.ts';
import { isOfEnvelope } from '../../filter/fields.ts';
import type { RowPosition } from '../../filter/order.ts';
import type { Filter } from '../../filter/syntax.ts';
import { looksLikeName } from '../../problems/pointer.ts';
import type { Permit } from '../../rights/permit.ts';
import { atPosition, type CursorPosition, type Cursors } from './cursors.ts';
import { contentTag, etagOf } from '../etag.ts';
import { accessPathOf, shownPath, type AccessPath } from './access-path.ts';
import { bindQuery } from './bind.ts';
import { selectedRowsOf } from './column-statements.ts';
import { countQuery, estimateQuery } from './list-statements.ts';
import { readIncluded, type Included } from './included.ts';
import { itemsWithin, projectedKeys, readLabels, withLabel, type FoundLabels, type LabelledItem } from './labels.ts';
import type { ListRequest } from './list-request.ts';
import { followMatches, hasMatch, withFoundKeys } from './match.ts';
import { representEntity } from '../represent.ts';
import { affordablePath, positionOf, readPage, type PageRow } from './page.ts';
import { isShown, shownCompanion } from '../shown-rows.ts';
import { readOthers, type FieldView } from '../../rights/field-view.ts';
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
  assertSearchable(request, table, permit.view);
  const readable = (table && readableCompanion(table)) ?? undefined;
  const page = await findPage(reads, permit, request, (filter, covered) =>
    listOf({ cursors, permit: covered, request: { ...request, filter } }, readable),
  );
  const isWhole = page.next === undefined && page.prev === undefined;
  return at(page, isWhole ? undefined : await reads.position());
}

/** A list whose rows PostgreSQL can find. */
interface List {
  cursors: Cursors;
  permit: Permit<'read' | 'update'>;
  request: ListRequest;
  path: AccessPath;
  /** The text to which the cursors of the list are bound. */
  binding: string;
}

function listOf({ cursors, permit, request }: Pick<List, 'cursors' | 'permit' | 'request'>, companion: Companion | undefined): List {
  const { filter, search, sort, limit, projection, includes, labels, isTrash } = request;
  // The keys of the references to follow come first.
  const followed = [...includes, ...(labels?.references ?? [])];
  const page = { limit, bytes: maximumBytes, projection, includes: followed, isTrash };
  const relevantTo = sort.length === 0 ? search : undefined;
  const path = accessPathOf(bindQuery({ filter, sort, relevantTo, ...page }, permit, companion));
  // With the types, because the values of a cursor are cast to them.
  const types = path.query.order.columns.map(({ sqlType, collation = '', isCut }) =>
    `${sqlType} ${collation} ${isCut ? 'cut' : ''}`.trim(),
  );
  const binding = JSON.stringify([permit.userName, permit.entity, request.canonical, types]);
  return { cursors, permit, request, path, binding };
}

type ListedRows = Permit<'read' | 'update'>;

async function findPage(
  reads: Reads,
  permit: ListedRows,
  request: ListRequest,
  bind: (filter: Filter, permit: ListedRows) => List,
): Promise<FoundPage> {
  const { filter, targets, carrier, count } = request;
  if (hasMatch(filter) || readOthers(permit))
    return await reads.readOnly(pageLimitMs, async (run) => {
      const list = await withinTimeLimit(carrier.place('filter'), async () =>
        bind(await followMatches(run, filter, targets), await withFoundKeys(run, permit)),
      );
      return await readListPage(run, list, await openCursor(list));
    });
  const list = bind(filter, permit);
  const cursor = await openCursor(list);
  if (list.path.budget === undefined && count === 'none') return await readListPage(withoutTransaction(reads), list, cursor);
  return await reads.readOnly(pageLimitMs, (run) => readListPage(run, list, cursor));
}

async function openCursor({ cursors, request: { cursor, carrier }, binding }: List): Promise<CursorPosition | undefined> {
  if (cursor === undefined) return undefined;
  const position = await cursors.open(cursor, binding);
  if (!position) throw new Problem('malformed-request', { faults: [{ ...carrier.place('cursor'), code: 'invalid-cursor' }] });
  return position;
}

async function readListPage(run: Run, list: List, cursor: CursorPosition | undefined): Promise<FoundPage> {
  const { cursors, permit, request, binding } = list;
  const path = await within(request, 'sort', () => affordablePath(run, list.path, cursor));
  if (!path) throw needsIndex(request, permit, list.path);
  const found = await within(request, 'filter', () => readPage(run, path, cursor));
  const labelled = labelledItems(request, found.rows);
  const readable = labelled && request.labels ? found.rows.slice(0, itemsWithin(labelled, request.labels)) : found.rows;
  const texts = readable.map((row) => representEntity(row).text);
  const included = await readReferences(run, request, readable, texts);
  const rows = readable.slice(0, included?.kept);
  const labels = await labelsOf(run, request, labelled?.slice(0, rows.length));
  const onwards = rows.length < found.rows.length ? positionOf(rows.at(-1)) : found.next;
  const back = cursor && positionOf(rows[0]);
  const isBackwards = cursor?.direction === 'prev';
  const items = texts.slice(0, rows.length).map((text, index) => withLabel(text, labels?.of(rows[index]?.key ?? '')));
  if (isBackwards) items.reverse();
  const count = await countOf(run, list);
  const seal = async (direction: 'next' | 'prev', position: RowPosition | undefined) =>
    position && (await cursors.seal({ direction, ...position }, binding));
  const [next, prev] = await Promise.all([seal('next', isBackwards ? back : onwards), seal('prev', isBackwards ? onwards : back)]);
  const counted = count ? `,"count":${JSON.stringify(count)}` : '';
  const partial = permit.coverage.kind === 'all' ? '' : ',"partial":true';
  const end = `${counted}${included ? `,${included.members}` : ''}${labels ? `,${labels.member}` : ''}${partial}}`;
  const textWith = (edges: Edges) => `{"items":[${items.join(',')}],"next":${quoted(edges.next)},"prev":${quoted(edges.prev)}${end}`;
  return { next, prev, path, textWith };
}

/** The entities to which the rows refer; undefined if the caller does not want them. */
async function readReferences(
  run: Run,
  request: ListRequest,
  rows: readonly PageRow[],
  texts: readonly string[],
): Promise<Included | undefined> {
  if (request.includes.length === 0) return undefined;
  const items = rows.map(({ references }, index) => ({ text: texts[index] ?? '', references: references ?? [] }));
  return await within(request, 'include', () => readIncluded(run, items, request, maximumBytes));
}

/** The rows with the keys of the references whose names the caller wants, unless it wants no field with them. */
function labelledItems({ includes, labels, projection }: ListRequest, rows: readonly PageRow[]): LabelledItem[] | undefined {
  return (
    labels &&
    rows.map(({ key, references }) => ({ key, references: projectedKeys(labels, projection, references?.slice(includes.length) ?? []) }))
  );
}

async function labelsOf(run: Run, request: ListRequest, items: readonly LabelledItem[] | undefined): Promise<FoundLabels | undefined> {
  const { labels } = request;
  return labels && items && (await within(request, 'filter', () => readLabels(run, items, labels)));
}

async function countOf(run: Run, { permit, request, path }: List): Promise<Page['count']> {
  const kind = request.count;
  if (kind === 'none') return undefined;
  const selected = selectedRowsOf(path.query);
  const [row] = await within(request, 'count', () => run(countQuery(selected, kind === 'exact' ? undefined : maximumCounted + 1), 'any'));
  const value = Number(row?.count);
  if (kind === 'exact' || value <= maximumCounted) return { value, kind: 'exact' };
  // An estimate is made of all rows with a value, also those of others (rule 64).
  if (kind === 'capped' || permit.coverage.kind !== 'all') return { value: maximumCounted, kind: 'capped' };
  const [plan] = await within(request, 'count', () => run(estimateQuery(selected), 'any'));
  return { value: Math.max(roundedTo2Digits(plan?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0), maximumCounted), kind };
}

const within = <T>({ carrier }: ListRequest, member: 'filter' | 'sort' | 'include' | 'count', statement: () => Promise<T>): Promise<T> =>
  withinTimeLimit(carrier.place(member), statement);

/** The refusal of a path that would sort too many rows. An index of the fields that it names would have the order. */
export function needsIndex(
  { sort, carrier }: Pick<ListRequest, 'sort' | 'carrier'>,
  permit: Permit<'read' | 'update'>,
  path: AccessPath,
): Problem {
  const names = sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.join('.')}`);
  const isNamed = sort.every(({ field }) => field.every(isOfEnvelope(field) ? indexedMember : looksLikeName));
  const { coverage, view } = permit;
  const named = coverage.kind === 'all' ? [] : coverage.fixed.filter(({ field }) => isShown(view, field));
  const fixed = named.map(({ field }) => field.join('.'));
  const fields = [...fixed, ...names].join(', ');
  const values = { ...(isNamed && names.length > 0 && { fields }), ...shownPath(permit, path) };
  const place = carrier.place(names.length === 0 ? 'search' : 'sort');
  return new Problem('query-too-expensive', { faults: [{ ...place, code: 'needs-index', values }] });
}

const quoted = (cursor: string | undefined) => JSON.stringify(cursor ?? null);

const roundedTo2Digits = (value: number) => Number(value.toPrecision(2));

/** The page with the place of the log in its cursors. */
function at({ textWith, ...page }: FoundPage, position: LogPosition | undefined): ListedPage {
  const text = textWith(page);
  const tag = contentTag(text);
  if (!position) return { ...page, tag, body: new JsonText(text), etag: etagOf(tag) };
  const edges = { next: atPosition(page.next, position), prev: atPosition(page.prev, position) };
  return { ...page, ...edges, tag, body: new JsonText(textWith(edges)), etag: `W/${etagOf(tag)}` };
}

/** Throws 422 for a search of a type without texts to search, with a text that some rows hide, or whose index of texts is being built. */
export function assertSearchable(
  { search, carrier }: Pick<ListRequest, 'search' | 'carrier'>,
  companion: Companion | null | undefined,
  view: FieldView,
): void {
  const shown = companion && shownCompanion(companion, view);
  const readable = companion && readableCompanion(companion);
  if (search === undefined || (readable && shownCompanion(readable, view).search)) return;
  const place = carrier.place('search');
  if (shown?.search) throw new Problem('query-too-expensive', { faults: [{ ...place, code: 'needs-index' }] });
  throw new Problem('validation-failed', { faults: [{ ...place, code: 'not-filterable' }] });
}
