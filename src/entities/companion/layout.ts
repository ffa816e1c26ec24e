/**
 * The companion table of an entity type: the values of the fields that the rules of the type name, in typed columns. PostgreSQL holds the rules over
 * it with unique indexes and foreign keys, and lists read its indexes (decision 125).
 */
import type { Field, ScalarType } from '../../filter/fields.ts';

/** Made of numbers that the service draws, never of what users write. The table is in the schema `entity_data`, with the primary key `key`. */
export interface Companion {
  /** Such as `x12`; the identity of the declared type, the same in all of its revisions. */
  table: string;
  columns: readonly CompanionColumn[];
  /** Of `x-index`, and one for each reference. */
  indexes: readonly CompanionIndex[];
  uniques: readonly CompanionUnique[];
  /** The indexes that find parts of texts. */
  substrings: readonly CompanionSubstring[];
  references: readonly CompanionReference[];
  search: CompanionSearch | undefined;
  /** The number of the next column, index or constraint. None is used twice. */
  next: number;
  /**
   * `building`: entities of the name may still have no row, or a row without the value of a new column, and indexes may be missing. Statements that write
   * entities keep all columns up to date from then on. Lists read {@link readableCompanion} alone.
   */
  state: 'building' | 'ready';
  /** While the state is `building`: what the table had in all rows before. Null: nothing, since it is new. */
  complete?: Companion | null;
}

/** The columns and indexes that lists may read; null for none. */
export function readableCompanion(companion: Companion): Companion | null {
  return companion.state === 'ready' ? companion : (companion.complete ?? null);
}

/** The rule over these fields, whose names have dots into objects; undefined if there is none. */
export function uniqueRuleOver(companion: Companion, names: readonly string[]): CompanionUnique | undefined {
  const wanted = new Set(names);
  return companion.uniques.find(
    (unique) => unique.columns.length === wanted.size && uniqueRuleNames(companion, unique).every((name) => wanted.has(name)),
  );
}

/** The names of the fields of a rule, with dots into objects. */
export function uniqueRuleNames({ columns }: Companion, unique: CompanionUnique): string[] {
  return columns.filter(({ name }) => unique.columns.includes(name)).map(({ field }) => field.join('.'));
}

/**
 * The value of a field; SQL null if the entity does not have it, or one of another type. The process computes it, but for a member of the envelope, which
 * the statement has in the row of `entity`.
 */
export interface CompanionColumn {
  /** Such as `c3`. No two fields of a type ever had the same. */
  name: string;
  field: Field;
  type: ScalarType;
  /** Whether the text is compared in NFKC and in lower case. */
  fold: boolean;
  /** The language whose order the text has (BCP 47); undefined for that of code points. */
  collation?: string;
  /** The fields that the names of entities are made of, for a column of the label; undefined for any other. */
  label?: readonly Field[];
  /** The most characters of a text, since an entry of an index has 2,704 bytes at most; undefined for a value that is no text. */
  maximumLength?: number | undefined;
}

/** The column with the names of entities in the order of code points; undefined for a type without `x-label`. */
export const labelColumn = ({ columns }: Companion): CompanionColumn | undefined =>
  columns.find(({ label, collation }) => label !== undefined && collation === undefined);

/** The values of a row by the names of its columns and texts, as JSON values that PostgreSQL reads as the types of `columns.ts`. */
export type CompanionValues = Record<string, string | number | boolean | null>;

/** An index ends with the key, so its order is total: that of the last field, ascending without fields. */
export interface CompanionIndex {
  /** Such as `x12_i4`. */
  name: string;
  columns: readonly { name: string; descending: boolean }[];
}

/** Two entities do not have the same values. An entity that lacks one of them conflicts with none. */
export interface CompanionUnique {
  /** Such as `x12_u5`. */
  name: string;
  columns: readonly string[];
}

/** An index of the trigrams of a text. */
export interface CompanionSubstring {
  /** Such as `x12_s7`. */
  name: string;
  column: string;
}

export interface CompanionReference {
  /** The constraint, such as `x12_r6`. */
  name: string;
  column: string;
  /** The name of the entities that the field refers to. */
  to: string;
  onDelete: 'restrict' | 'cascade' | 'set-null';
}

export const searchColumn = 'search';

/** The texts of the fields, in the {@link searchColumn} of the type `tsvector`: the first has the weight A, the second B, the third C, all others D. */
export interface CompanionSearch {
  /** The name is the member that has the text of the field in {@link CompanionValues}. */
  texts: readonly { name: string; field: Field }[];
  /** A text search configuration of PostgreSQL. */
  language: string;
  /**
   * Whether the column has the words without case and accents, for searches by the beginning of a word; undefined for a table from before, which has the words
   * of the language alone.
   */
  isFolded?: true;
}

/** The member of {@link CompanionValues} with the folded words of the text whose words have `name`. */
export const foldedName = (name: string): string => `${name}f`;

/** The members of {@link CompanionValues} that the column is made of. */
export function searchInputs({ texts, language, isFolded }: CompanionSearch): string[] {
  return texts.flatMap(({ name }) => [...(isFolded && language === 'simple' ? [] : [name]), ...(isFolded ? [foldedName(name)] : [])]);
}
