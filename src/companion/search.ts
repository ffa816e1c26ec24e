/** SQL that searches the texts of a companion table. Words are read as `websearch_to_tsquery` does: any text is a query, and none is an error. */
import { sql, type RawBuilder } from 'kysely';
import type { Companion } from './layout.ts';
import { inSchema } from './table.ts';

/** Whether the row of the companion table with the name `x` matches. The index of the texts serves it. */
export function matchesRow(companion: Companion, words: string): RawBuilder<boolean> {
  return sql<boolean>`x.search @@ ${queryOf(companion, words)}`;
}

/** Whether the texts of the row `entity` match. A look at the primary key for each row: the index of texts would tell how many entities of others match (rule 64). */
export function searchMatches(companion: Companion, words: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from ${inSchema(companion.table)} as texts where texts.key = entity.key and texts.search @@ ${queryOf(companion, words)} offset 0)`;
}

/** How well the texts of the row `entity` match: a number of the SQL type `real`, larger for a better match. */
export function searchRank(companion: Companion, words: string): RawBuilder<number> {
  return sql<number>`(select ts_rank(texts.search, ${queryOf(companion, words)}) from ${inSchema(companion.table)} as texts where texts.key = entity.key)`;
}

function queryOf({ search }: Companion, words: string): RawBuilder<unknown> {
  if (!search) throw new Error('the type has no texts to search');
  return sql`websearch_to_tsquery(${search.language}::regconfig, ${withoutSigns(words)}::text)`;
}

/** The query in the words that `wordsOf` makes of texts. Quotes, and a `-` in front of a word, keep their meaning. */
function withoutSigns(words: string): string {
  return words
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{M}\p{N}"-]+/gu, ' ')
    .replaceAll(/(?<=[\p{L}\p{M}\p{N}"])-+/gu, ' ');
}
