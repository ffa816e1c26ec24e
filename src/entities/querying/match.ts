/**
 * Filters that look through references, by the caller's right to read what is at the other end (rule 64): `$match` tests the entity that a reference leads to,
 * `$some` and `$none` those that refer to the listed one. If there are few such entities, they are found first, and an index serves their keys. If there are
 * many, they are looked up for each entity of the list (decisions 182 and 317).
 */
import { sql, type RawBuilder } from 'kysely';
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { bindToColumns, bindToEntities, columnOf, type BoundFields } from '../companion/fields.ts';
import type { Run } from '../../database/read-transaction.ts';
import type { Field } from '../../filter/fields.ts';
import { entitySource } from '../../filter/source.ts';
import { all, any, noEntity, not, testsOf, type Filter, type Lookup, type Test } from '../../filter/syntax.ts';
import { allRows, type CoveredRows } from '../../rights/coverage.ts';
import { wholeView } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';
import { accessPathOf } from './access-path.ts';
import { bindQuery, type BoundQuery } from './bind.ts';
import { matchedKeysQuery } from './match-statements.ts';
import { affordablePath, rowsOf } from './page.ts';
import type { MatchTargets } from './scope.ts';
import { hasReferrer, isMatchedKey } from '../reference-tests.ts';
import { shownCompanion } from '../shown-rows.ts';

/** The most entities that are found first. A test lowers it. */
export const matchLimits = { keys: 1_000 };

/** Whether the filter looks through a reference, in either direction. */
export const hasMatch = (filter: Filter): boolean => testsOf(filter).some(({ kind }) => kind === 'match' || kind === 'some');

/** The filter with tests of keys in place of those of entities at the other ends of references. */
export async function followMatches(run: Run, filter: Filter, targets: MatchTargets): Promise<Filter> {
  switch (filter.kind) {
    case 'not':
      return not(await followMatches(run, filter.of, targets));
    case 'all':
      return all(await eachFollowed(run, filter.of, targets));
    case 'any':
      return any(await eachFollowed(run, filter.of, targets));
    case 'match':
    case 'some':
      return await followed(run, filter, targets);
    default:
      return filter;
  }
}

/** One after the other, since they share a connection. */
async function eachFollowed(run: Run, filters: readonly Filter[], targets: MatchTargets): Promise<Filter[]> {
  const all: Filter[] = [];
  for (const filter of filters) all.push(await followMatches(run, filter, targets));
  return all;
}

async function followed(run: Run, test: Extract<Test, { kind: 'match' | 'some' }>, targets: MatchTargets): Promise<Filter> {
  const target = targets.get(test.kind === 'match' ? test.to : test.name);
  if (!target?.permit) return noEntity;
  const { permit } = target;
  const filter = await followMatches(run, test.of, targets);
  const stored = (target.type?.companion && readableCompanion(target.type.companion)) ?? undefined;
  const companion = stored && shownCompanion(stored, permit.view);
  const query = bindQuery({ filter, sort: [], limit: matchLimits.keys, bytes: 0 }, permit, companion);
  const key = test.kind === 'match' ? sql`entity.key` : entitySource.typed(test.by, 'int64');
  const found = inKeys(test.field, await keysOf(run, query, key));
  if (found) return found;
  const { entity: name } = permit;
  const lookup = { kind: 'lookup', field: test.field, type: 'int64', name, of: filter, tests: 2 + testsOf(filter).length } as const;
  return { ...lookup, ...(test.kind === 'match' ? lookedUp(permit, companion) : lookedUpReferrers(permit, companion, test.by)) };
}

/**
 * The permit with keys in place of the looks at other entities of its rule, where these are few. The keys only find the rows: the rule is tested on each. It reads whatever
 * it needs, for every caller alike.
 */
export async function withFoundKeys<P extends CoveredRows>(run: Run, permit: P): Promise<P> {
  const { coverage } = permit;
  if (coverage.kind === 'all' || !coverage.readsOthers || !coverage.candidates) return permit;
  return { ...permit, coverage: { ...coverage, candidates: await withKeys(run, coverage.candidates) } };
}

async function withKeys(run: Run, filter: Filter): Promise<Filter> {
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const of: Filter[] = [];
      for (const each of filter.of) of.push(await withKeys(run, each));
      return filter.kind === 'all' ? all(of) : any(of);
    }
    case 'lookup': {
      const rows = { entity: filter.name, coverage: allRows, view: wholeView };
      const { companion } = filter.source as BoundFields;
      const query = bindQuery({ filter: await withKeys(run, filter.of), sort: [], limit: matchLimits.keys, bytes: 0 }, rows, companion);
      return inKeys(filter.field, await keysOf(run, query, filter.by ? entitySource.typed(filter.by, 'int64') : sql`entity.key`)) ?? filter;
    }
    default:
      return filter;
  }
}

/** The test of the keys; undefined if they were not found. */
function inKeys(field: Field, keys: readonly string[] | undefined): Filter | undefined {
  if (!keys) return undefined;
  return keys.length === 0 ? noEntity : { kind: 'in', field, type: 'int64', values: keys };
}

type LookedUp = Pick<Lookup, 'by' | 'source' | 'exists'>;

const lookedUp = (permit: Permit<'read'>, companion: Companion | undefined): LookedUp => ({
  source: bindToEntities(companion),
  exists: (key, condition) => isMatchedKey(permit, key, condition),
});

/** A reference has an index and so a column, unless the table has been taken away since the filter was read. */
function lookedUpReferrers(permit: Permit<'read'>, companion: Companion | undefined, by: Field): LookedUp {
  const column = companion && columnOf(companion, by, 'int64');
  if (!column) throw new Error('a reference without a column cannot be looked up');
  return { by, source: bindToColumns(companion), exists: (key, condition) => hasReferrer(permit, { companion, column }, key, condition) };
}

/** The different keys, by the expression `key`, of all entities that the query finds; undefined if they are too many, or if it takes too long to find them. */
async function keysOf(run: Run, query: BoundQuery, key: RawBuilder<unknown>): Promise<string[] | undefined> {
  const path = await affordablePath(run, accessPathOf(query), undefined);
  if (!path) return undefined;
  const { end, scans, ...rows } = rowsOf(path, undefined);
  const { limit } = query.page;
  const found = await run(matchedKeysQuery(rows, key, limit + 1), scans);
  if (found.length > limit) return undefined;
  const [last] = end ? await run(end()) : [];
  return last ? undefined : [...new Set(found.flatMap((row) => row.key ?? []))];
}
