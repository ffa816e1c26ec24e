/**
 * The rows of the tables `entity`, `entity_change` and `entity_trash` that a permit covers, as one SQL condition. Every statement that reads, updates or deletes
 * entities has it: for one row, for a group of rows, or for all rows of a name (rule 64). Nothing outside of this folder knows what a rule says.
 */
import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import { filterCondition } from '../filter/compile.ts';
import { envelopeOfChange, rowSource, type Source } from '../filter/source.ts';
import { any, conjuncts, hasLookup, type Filter } from '../filter/syntax.ts';
import { coversAll, type Grant } from './grant.ts';
import { variablesAt, variablesUsed, type CallerVariables, type VariableName, type VariableUse } from './variable-columns.ts';

/** The values of a caller that statements compare with rows. */
export interface PermitValues {
  /** The name of the entities. */
  name: string;
  /** The user whose rows alone are covered; null for the rows of all users. */
  owner: string | null;
  [variable: VariableName]: unknown;
}

/** The place of a row in a statement, and those of the values of its caller. */
export interface CoverageSource {
  /** The name that a table with the columns of `entity`, or the table `entity_change`, has in the statement. */
  row: string;
  /** The column of the row that has all fields; `fields` if undefined. */
  whole?: string | undefined;
  /** Makes the expression of a value: its place in a prepared statement, or the column of a grouped statement that it came in. */
  value: (name: 'name' | 'owner' | VariableName) => RawBuilder<unknown>;
}

/** SQL: the fields of the rows at the source, as filters compare them. */
export const fieldsAt = ({ row, whole }: Pick<CoverageSource, 'row' | 'whole'>): Source =>
  row === 'entity_change' ? rowSource(row, envelopeOfChange) : rowSource(row, undefined, whole);

/** The values of which a field of covered rows has one. */
export interface FixedField {
  field: readonly string[];
  type: 'string' | 'enum' | 'int64';
  /** Different ones, at least one and ten at most. */
  values: readonly string[];
}

/** A range of an index for each value: more of them read it in too many places. */
const maximumValues = 10;

/** Some rows of a name. */
export interface CoverageRule {
  kind: 'rule';
  /** Letters and digits. Rules with the same digest have the same SQL, and differ in their values alone. So callers with the same digest share statements. */
  digest: string;
  values: Omit<PermitValues, 'name'>;
  /** The variables that the SQL names besides `owner`. */
  variables: readonly VariableUse[];
  /** Whether other entities decide too. PostgreSQL does not test them again when it has waited for the lock of a row (decision 334). */
  readsOthers: boolean;
  /** Values that fields of every covered row have. Each row with one of each is covered. An index that begins with such a field finds the rows. */
  fixed: readonly FixedField[];
  /** A filter without variables that every covered row fulfils, and others too; undefined if no index but those of `fixed` may be read. Lists find the rows by it. */
  candidates: Filter | undefined;
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
  sql<boolean>`(${value('owner')}::text is null or ${sql.raw(row)}.created_by = ${value('owner')})`;

/** The rows that the user has created. */
const ownRows = (userName: string): CoverageRule => ({
  kind: 'rule',
  digest: commonDigest,
  values: { owner: userName },
  variables: [],
  readsOthers: false,
  fixed: [{ field: ['$createdBy'], type: 'string', values: [userName] }],
  candidates: undefined,
  matches: isOwnOrAll,
});

/** The digest of what statements have in their text. */
export const digestOfText = (text: unknown): string => createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, 16);

/** The rows that fulfil a filter. */
function rowsOfFilter(filter: Filter, caller: CallerVariables): CoverageRule {
  const variables = variablesUsed(filter);
  const candidates = caller.filled(filter);
  return {
    kind: 'rule',
    digest: digestOfText(filter),
    values: { owner: null, ...caller.valuesOf(variables) },
    variables,
    readsOthers: hasLookup(filter),
    fixed: fixedBy(candidates),
    candidates,
    matches: (source) => filterCondition(filter, fieldsAt(source), variablesAt(source, variables)),
  };
}

/** The values that the filter fixes; none if it is more than equalities that all have to hold. */
function fixedBy(filter: Filter): FixedField[] {
  const tests = conjuncts(filter);
  const fixed = tests.flatMap(fixedByTest);
  return fixed.length === tests.length ? fixed : [];
}

function fixedByTest(test: Filter): FixedField[] {
  if (test.kind !== 'compare' && test.kind !== 'in') return [];
  const { field, type } = test;
  if (type !== 'string' && type !== 'enum' && type !== 'int64') return [];
  const values = [...new Set(test.kind === 'in' ? test.values.map(String) : equalValue(test))];
  return values.length === 0 || values.length > maximumValues ? [] : [{ field, type, values }];
}

const equalValue = ({ operator, operand }: Extract<Filter, { kind: 'compare' }>): string[] =>
  operator === '=' && operand.kind === 'value' ? [String(operand.value)] : [];

/** The rows that the grants of a caller cover together; undefined without a grant. */
export function coverageOf(grants: readonly Grant[], caller: CallerVariables): Coverage | undefined {
  if (grants.length === 0) return undefined;
  if (grants.some(coversAll)) return allRows;
  if (grants.every(({ kind }) => kind === 'own')) return ownRows(caller.userName);
  const alike = new Map(grants.map(({ filter }) => [JSON.stringify(filter), filter]));
  return rowsOfFilter(any([...alike.values()]), caller);
}

/** Whether an entity that is covered stays covered, whatever changes. */
export const isLasting = (coverage: Coverage): boolean => digestOf(coverage) === commonDigest;

/** The digest by which statements of the coverage differ. */
export const digestOf = (coverage: Coverage): string => (coverage.kind === 'all' ? commonDigest : coverage.digest);

/** The values of `rows`: for a prepared statement, or for one row of a grouped statement. */
export function permitValues({
  entity,
  coverage,
  view,
}: CoveredRows & { view?: { kind: 'whole' } | { kind: 'part'; values: object } }): PermitValues {
  const ofView = view?.kind === 'part' ? view.values : {};
  return { name: entity, ...(coverage.kind === 'all' ? { owner: null } : coverage.values), ...ofView };
}

/** SQL: the columns of a grouped statement's input that {@link permitValues} come in beside the name, and with their types. */
export function coverageInput(...coverages: readonly Coverage[]): { names: RawBuilder<unknown>; typed: RawBuilder<unknown> } {
  const variables = new Map(coverages.flatMap((each) => (each.kind === 'all' ? [] : each.variables.map((one) => [one.column, one]))));
  return {
    names: sql.join([sql`owner`, ...[...variables.values()].map(({ column }) => sql.ref(column))]),
    typed: sql.join([
      sql`owner text`,
      ...[...variables.values()].map(({ column, sqlType }) => sql`${sql.ref(column)} ${sql.raw(sqlType)}`),
    ]),
  };
}

type RowTable = 'entity' | 'entity_change' | 'entity_trash';

/** SQL: whether the row of `table`, which has that name in the statement, is covered by a permit whose values the statement has as `value`. */
export function rowsCovered(coverage: Coverage, value: CoverageSource['value'], table: RowTable = 'entity'): RawBuilder<boolean> {
  const matches = coverage.kind === 'all' ? isOwnOrAll : (source: CoverageSource) => coverage.matches(source);
  return sql<boolean>`${sql.raw(table)}.name = ${value('name')} and ${matches({ row: table, value })}`;
}

/** The same for a statement that is built for one permit. `name` is the SQL of the name in the condition. */
export function rowsOfPermit(rows: CoveredRows, table: RowTable = 'entity', name = sql`${rows.entity}`): RawBuilder<boolean> {
  const values = permitValues(rows);
  return rowsCovered(rows.coverage, (each) => (each === 'name' ? name : sql`${values[each]}`), table);
}
