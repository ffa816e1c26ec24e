/**
 * A list by the indexes of the companion table. Covered: an index has the order and serves all tests, so a page reads its rows alone.
 * Small: the tests that indexes serve leave few rows, which are tested and sorted. Walk: an index has the order, and a page looks at a
 * number of its rows.
 */
import type { Companion } from '../companion/layout.ts';
import type { Run, Scans } from '../../database/read-transaction.ts';
import { columnsUsed, companionSource } from '../companion/source.ts';
import { reverseOrder } from '../../filter/order.ts';
import { candidatesOf, columnOrderOf, isOfFields, restOf, reversedColumns, reversedWalk, walkOf, type Range } from '../companion/roads.ts';
import { isOwnRange, ownFilter, ownPart } from '../companion/own-rows.ts';
import { all, conjuncts, type Filter } from '../../filter/syntax.ts';
import {
  candidatesRows,
  indexEndQuery,
  indexRows,
  isEverything,
  rangesQuery,
  selectedByColumns,
  splitFilter,
  type IndexWalk,
} from './companion-statements.ts';
import { areFew, budgetOf, listLimits, orderFor, type FoundRows, type Part, type Road, type RoadQuery } from './road.ts';

/**
 * The road over the columns of `companion`; undefined if its indexes are of no use for the list. A list of own rows uses {@link ownPart}
 * alone.
 */
export function companionRoad(wanted: RoadQuery, companion: Companion): Road | undefined {
  const { owner } = wanted.permit;
  if (owner === null) return ofUse(new CompanionRoad(wanted, companion));
  const own = ownPart(companion);
  return own && ofUse(new CompanionRoad({ ...wanted, filter: ownFilter(wanted.filter, owner) }, own, isOwnRange(own, owner)));
}

const ofUse = (road: CompanionRoad): Road | undefined => (road.isOfUse ? road : undefined);

class CompanionRoad implements Road {
  readonly order: Road['order'];
  readonly #wanted: RoadQuery;
  readonly #companion: Companion;
  readonly #columnOrder: ReturnType<typeof columnOrderOf>;
  readonly #walk: ReturnType<typeof walkOf>;
  readonly #candidates: readonly Range[][];
  /** What the walk leaves to be tested. */
  readonly #rest: Filter;

  constructor(wanted: RoadQuery, companion: Companion, mayRead?: (range: Range) => boolean) {
    const { filter, sort, relevantTo } = wanted;
    this.#wanted = wanted;
    this.#companion = companion;
    this.order = orderFor(wanted, companionSource(companion));
    this.#columnOrder = relevantTo === undefined ? columnOrderOf(sort, filter, companion) : undefined;
    this.#walk = this.#columnOrder && walkOf(filter, this.#columnOrder, companion);
    this.#candidates = candidatesOf(filter, companion, mayRead);
    this.#rest = this.#walk ? restOf(filter, this.#walk) : filter;
  }

  get isOfUse(): boolean {
    const { ofColumns } = splitFilter(this.#wanted.filter, this.#companion);
    const used = columnsUsed(this.#companion, ofColumns, this.#columnOrder ? this.#wanted.sort : []);
    return used.length > 0 || this.#candidates.some((ranges) => ranges.some(isOfFields));
  }

  get isCheap(): boolean {
    return this.#walk !== undefined && isEverything(this.#rest);
  }

  get selected() {
    const { permit, filter } = this.#wanted;
    return selectedByColumns(this.#companion, permit, filter);
  }

  async find(run: Run, part: Part): Promise<FoundRows | undefined> {
    const walk = this.#walkFor(part);
    if (walk && this.isCheap) return { ...indexRows(walk, part.limit), end: undefined, scans: 'by-index' };
    for (const ranges of this.#candidates) if (await this.#areFew(run, ranges)) return this.#sorted(ranges, part);
    if (walk) return { ...indexRows(walk, part.limit), end: indexEndQuery(walk), scans: 'by-index' };
    const whole: Range[] = [{ fixed: [], limits: [] }];
    return this.#candidates.length === 0 && (await this.#areFew(run, whole)) ? this.#sorted(whole, part) : undefined;
  }

  #walkFor({ after, isBackwards, limit }: Part): IndexWalk | undefined {
    if (!this.#walk) return undefined;
    const [companion, { permit, sort }] = [this.#companion, this.#wanted];
    const rest = splitFilter(this.#rest, companion);
    return {
      companion,
      permit,
      walk: isBackwards ? reversedWalk(this.#walk) : this.#walk,
      after,
      budget: this.isCheap ? limit + 1 : budgetOf(rest.ofFields, isEverything(rest.ofFields) ? 0 : 1),
      rest,
      columns: columnsUsed(companion, this.#rest, sort),
    };
  }

  async #areFew(run: Run, ranges: readonly Range[]): Promise<boolean> {
    return areFew(await run(rangesQuery(this.#companion, ranges, listLimits.candidates + 1), scansOf(ranges, 'by-index')));
  }

  #sorted(ranges: readonly Range[], { after, isBackwards, limit }: Part): FoundRows {
    const [companion, { permit, sort }] = [this.#companion, this.#wanted];
    const filter = unserved(this.#wanted.filter, ranges);
    const query = {
      companion,
      permit,
      ranges,
      filter: splitFilter(filter, companion),
      after,
      order: isBackwards ? reverseOrder(this.order) : this.order,
      columnOrder: this.#columnOrder && isBackwards ? reversedColumns(this.#columnOrder) : this.#columnOrder,
      columns: columnsUsed(companion, filter, sort),
    };
    return { ...candidatesRows(query, limit), end: undefined, scans: scansOf(ranges, 'by-any-index') };
  }
}

const areOfWords = (ranges: readonly Range[]) => ranges.some(({ words }) => words !== undefined);

const scansOf = (ranges: readonly Range[], otherwise: Scans): Scans =>
  areOfWords(ranges) || ranges.some(({ part }) => part !== undefined) ? 'by-bitmap' : otherwise;

/** The filter without the words of the ranges: tests of columns are cheap, to match words is not. */
function unserved(filter: Filter, ranges: readonly Range[]): Filter {
  return areOfWords(ranges) ? all(conjuncts(filter).filter(({ kind }) => kind !== 'search')) : filter;
}
