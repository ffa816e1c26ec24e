/**
 * SQL that searches the texts of a companion table. A word finds the words that begin with it, without regard to case and accents, and in a language
 * also its other forms. An excluded word and the words of a phrase are whole words.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionSearch } from './layout.ts';
import { foldWords } from '../../filter/fold.ts';
import { readSearch, type SearchTerm } from './search-words.ts';
import { inSchema } from './table.ts';

/** A shorter word finds itself alone: the words that begin with one letter are nearly all words. */
const leastPrefix = 2;

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

/**
 * SQL: the `tsvector` of a text, given its words and its {@link foldWords}. In a language it has the stems of the words, and then the folded words.
 */
export function searchVector(language: string, words: RawBuilder<unknown>, folded: RawBuilder<unknown>): RawBuilder<unknown> {
  const whole = sql`to_tsvector('simple', coalesce(${folded}, ''))`;
  return language === 'simple' ? whole : sql`(to_tsvector(${sql.lit(language)}::regconfig, coalesce(${words}, '')) || ${whole})`;
}

function queryOf({ search }: Companion, words: string): RawBuilder<unknown> {
  if (!search) throw new Error('the type has no texts to search');
  const alternatives = readSearch(words).map((terms) =>
    joined(
      terms.map((term) => termQuery(search, term)),
      sql` && `,
    ),
  );
  return alternatives.length === 0 ? sql`''::tsquery` : joined(alternatives, sql` || `);
}

const joined = (queries: readonly RawBuilder<unknown>[], operator: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${sql.join(queries, operator)})`;

function termQuery({ language, isFolded }: CompanionSearch, { words, isPhrase, isExcluded }: SearchTerm): RawBuilder<unknown> {
  const compared = isFolded ? foldWords(words) : words;
  const beginning = !isPhrase && !isExcluded && compared.length >= leastPrefix ? ':*' : '';
  const whole = isPhrase ? sql`phraseto_tsquery('simple', ${compared})` : sql`to_tsquery('simple', ${`'${compared}'${beginning}`})`;
  const query = language === 'simple' ? whole : inLanguage(language, words, isFolded ? whole : undefined);
  return isExcluded ? sql`(!!${query})` : query;
}

/** The stems of the words, or `whole`; the empty query, which changes nothing beside others, for words that say nothing in the language. */
function inLanguage(language: string, words: string, whole: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  const stems = sql`phraseto_tsquery(${language}::regconfig, ${words})`;
  return whole ? sql`(case when numnode(${stems}) = 0 then ''::tsquery else ${stems} || ${whole} end)` : stems;
}
