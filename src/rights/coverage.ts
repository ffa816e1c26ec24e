/**
 * The rows of the tables `entity`, `entity_change` and `entity_trash` that a permit covers, as one SQL condition. Every statement that reads, updates or deletes
 * entities has it: for one row, for a group of rows, or for all rows of a name (rule 64). Nothing outside of this folder knows what a rule says.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Condition } from './vocabulary.ts';

/** The values of a caller that statements compare with rows. */
export interface PermitValues {
  /** The name of the entities. */
  name: string;
  /** The user whose rows alone are covered; null for the rows of all users. */
  owner: string | null;
}

/** The place of a row in a statement, and those of the values of its caller. */
export interface CoverageSource {
  /** SQL: the name of a table with the columns of `entity`. */
  row: RawBuilder<unknown>;
  /** Makes the expression of a value: its place in a prepared statement, or the column of a grouped statement that it came in. */
  value: (name: keyof PermitValues) => RawBuilder<unknown>;
}

/** Some rows of a name. */
export interface CoverageRule {
  kind: 'rule';
  /** Letters and digits. Rules with the same digest have the same SQL, and differ in their values alone. So callers with the same digest share statements. */
  digest: string;
  values: Omit<PermitValues, 'name'>;
  /** Texts that fields of every covered row have. Each row with all of them is covered. An index that begins with such a field finds the rows. */
  fixed: readonly { field: readonly string[]; value: string }[];
  matches(source: CoverageSource): RawBuilder<boolean>;
}

/** The rows of a name that a permit covers. */
export type Coverage = { kind: 'all' } | CoverageRule;

/** Rows of one name: a permit, or its name and coverage. */
export interface CoveredRows {
  entity: string;
  coverage: Coverage;
}

export const allRows: Coverage = { kind: 'all' };

/** The digest of rows of all users, and of own rows: one statement serves both, and needs no second name on each connection. */
const commonDigest = '';

const isOwnOrAll = ({ row, value }: CoverageSource) =>
  sql<boolean>`(${value('owner')}::text is null or ${row}.created_by = ${value('owner')})`;

/** The rows that the user has created. */
const ownRows = (userName: string): CoverageRule => ({
  kind: 'rule',
  digest: commonDigest,
  values: { owner: userName },
  fixed: [{ field: ['$createdBy'], value: userName }],
  matches: isOwnOrAll,
});

/** The rows that grants with these conditions cover together; undefined for none. */
export function coverageOf(conditions: readonly (Condition | undefined)[], userName: string): Coverage | undefined {
  if (conditions.includes('any')) return allRows;
  return conditions.includes('own') ? ownRows(userName) : undefined;
}

/** The digest by which statements of the coverage differ. */
export const digestOf = (coverage: Coverage): string => (coverage.kind === 'all' ? commonDigest : coverage.digest);

/** The rows that both cover. Throws an Error for two rules that differ, which no grants make. */
export function rowsOfBoth(one: Coverage, other: Coverage): Coverage {
  if (one.kind === 'all') return other;
  if (other.kind === 'all' || (one.digest === other.digest && JSON.stringify(one.values) === JSON.stringify(other.values))) return one;
  throw new Error('two rules over rows that differ cannot be joined');
}

/** The values of `rows`: for a prepared statement, or for one row of a grouped statement. */
export function permitValues({ entity, coverage }: CoveredRows): PermitValues {
  return { name: entity, ...(coverage.kind === 'all' ? { owner: null } : coverage.values) };
}

/** SQL: the columns of a grouped statement's input that {@link permitValues} come in beside the name, and with their types. */
export const coverageInput = { names: sql`owner`, typed: sql`owner text` };

type RowTable = 'entity' | 'entity_change' | 'entity_trash';

/** SQL: whether the row of `table`, which has that name in the statement, is covered by a permit whose values the statement has as `value`. */
export function rowsCovered(coverage: Coverage, value: CoverageSource['value'], table: RowTable = 'entity'): RawBuilder<boolean> {
  const row = sql.raw(table);
  const matches = coverage.kind === 'all' ? isOwnOrAll : (source: CoverageSource) => coverage.matches(source);
  return sql<boolean>`${row}.name = ${value('name')} and ${matches({ row, value })}`;
}

/** The same for a statement that is built for one permit. `name` is the SQL of the name in the condition. */
export function rowsOfPermit(rows: CoveredRows, table: RowTable = 'entity', name = sql`${rows.entity}`): RawBuilder<boolean> {
  const values = permitValues(rows);
  return rowsCovered(rows.coverage, (each) => (each === 'name' ? name : sql`${values[each]}`), table);
}
