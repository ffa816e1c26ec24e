/** Prepared statements with the condition of a permit, one for each digest of coverages. */
import { LRUCache } from 'lru-cache';
import type { CompiledQuery } from 'kysely';
import { prepare, type PreparedStatement, type ValueOf } from '../database/driver/prepared.ts';
import type { Companion } from './companion/layout.ts';
import { allRows, digestOf, type Coverage } from '../rights/coverage.ts';

/** The table, the coverage and the variant of a statement that changes entities. Without a variant it is the usual one of names without a table. */
export interface StatementVariant {
  companion: Companion | null;
  coverage: Coverage;
  variant: string | undefined;
}

/** The most digests besides the usual one whose statements are stored. The least recently used ones are compiled again. */
const maximumDigests = 64;

/** Makes the statement for a coverage: always the same one for the same digest. `build` must put the coverage into the text, with `rowsCovered`. */
export function prepareCovered<V extends object, R>(
  name: string,
  build: (value: ValueOf<V>, coverage: Coverage) => CompiledQuery<R>,
): (coverage: Coverage) => PreparedStatement<V, R> {
  const usual = prepare<V, R>(name, (value) => build(value, allRows));
  const others = new LRUCache<string, PreparedStatement<V, R>>({ max: maximumDigests });
  return (coverage) => {
    const digest = digestOf(coverage);
    if (digest === digestOf(allRows)) return usual;
    const statement = others.get(digest) ?? prepare<V, R>(name, (value) => build(value, coverage), digest);
    others.set(digest, statement);
    return statement;
  };
}
