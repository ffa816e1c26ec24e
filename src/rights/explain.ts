/**
 * The part of the findings about a row that its caller may be told. A finding tells of the cells that it compares. So the caller is told it if it knows these cells, or
 * if the answer of its request tells the same (rule 172).
 */
import { isEnvelopeName } from '../filter/fields.ts';
import { comparedFields, hasLookup, testsOf, type Filter } from '../filter/syntax.ts';
import { hasField } from './field-set.ts';
import type { Grant } from './grant.ts';
import type { IsVisible } from './rule-text.ts';

/** The fields that the filter compares, by their first names. */
const comparedNames = (filter: Filter): string[] =>
  testsOf(filter).flatMap((test) => comparedFields(test).map(({ field: [name = ''] }) => name));

/** Whether the test follows from known cells. One that looks at other entities does not: the caller may not read them. */
export const followsFrom = (filter: Filter, isKnown: IsVisible): boolean => !hasLookup(filter) && comparedNames(filter).every(isKnown);

/** The findings about the row as it is. */
export interface RowFindings {
  /** The names of all its fields, hidden ones too. */
  present: readonly string[];
  /** Of each grant of `read`. */
  reads: readonly boolean[];
}

/** A row as its caller knows it. */
export interface KnownRow {
  /** Whether the caller knows the cell: its value, or that the row has none. */
  isKnown: IsVisible;
  /** The grants of `read` of which the caller can tell that they cover the row. */
  covering: readonly Grant[];
}

/** The knowledge of a caller with these grants of `read`: what it sees, and what follows from that. */
export function knownRow(grants: readonly Grant[], { present, reads }: RowFindings, sensitive: ReadonlySet<string>): KnownRow {
  const covering = grants.filter((_, index) => reads[index]);
  const shows = (grant: Grant, name: string) => hasField(grant.read, name, sensitive);
  const seen = new Set(present.filter((name) => covering.some((grant) => shows(grant, name))));
  const told = new Set(grants.length === 1 ? covering : []);
  const isKnown = (name: string) =>
    isEnvelopeName(name) ? covering.length > 0 : seen.has(name) || [...told].some((grant) => shows(grant, name));
  for (let size = -1; size < told.size;) {
    size = told.size;
    for (const grant of covering) if (followsFrom(grant.filter, isKnown)) told.add(grant);
  }
  return { isKnown, covering: [...told] };
}

/** A grant of the action, and its findings. */
export interface TestedGrant {
  grant: Grant;
  /** Undefined for a new entity. */
  covers: boolean | undefined;
  /** Undefined where nothing changes. */
  accepts: boolean | undefined;
}

/** The findings that are told; undefined in place of others. */
export type DisclosedGrant = Pick<TestedGrant, 'covers' | 'accepts'>;

/** The knowledge by which findings are told. */
export interface Knowledge {
  isKnown: IsVisible;
  /** Whether the caller knows the cell as the change makes it. */
  isKnownAfter: IsVisible;
  /** Whether the answer tells if the checks hold: it allows the change, or refuses a value. */
  tellsChecks: boolean;
}

/** The findings that the caller may be told. */
export function disclosedGrants(grants: readonly TestedGrant[], { isKnown, isKnownAfter, tellsChecks }: Knowledge): DisclosedGrant[] {
  const isOpen = ({ grant, covers }: TestedGrant) => covers === undefined || followsFrom(grant.filter, isKnown);
  const covering = grants.filter(({ covers }) => covers !== false);
  const closed = grants.filter((each) => !isOpen(each));
  // The answer tells whether any grant covers the row. So it tells of each if none does, and of the only closed one if no open one does.
  const follows = covering.length === 0 || (closed.length === 1 && covering.length === 1 && covering[0] === closed[0]);
  return grants.map((each) => {
    const { grant, covers, accepts } = each;
    if (!isOpen(each) && !follows) return { covers: undefined, accepts: undefined };
    const isTold = followsFrom(grant.check, isKnownAfter) || (grants.length === 1 && tellsChecks);
    return { covers, accepts: covers !== false && isTold ? accepts : undefined };
  });
}
