/** The statement that finds out how rows stand to the rules of a companion table. */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from '../companion/columns.ts';
import type { Companion, CompanionColumn, CompanionUnique, CompanionValues } from '../companion/layout.ts';
import { inSchema } from '../companion/table.ts';

/** A row to write. */
export interface CandidateRow {
  /** Its place in the file, from 1. */
  row: number;
  /** The entity to which it belongs; null for a new one. */
  key: string | null;
  values: CompanionValues;
}

/** The state of a row under one rule. */
export interface RuleState {
  n: string;
  /** Of the rule in the list of all rules. */
  rule: number;
  /** Of the values of a unique rule, as PostgreSQL compares them; null for a row that lacks one, and for a reference. */
  hash: string | null;
  /** The entity that has these values or, for a reference, null. */
  holder: string | null;
  /** Of the values that the entity of the row has now; null for a new one, and for one that lacks a value. */
  own: string | null;
}

/** SQL: a hash of values that is the same for equal values. Each rule has another one. */
export const hashOf = (unique: Pick<CompanionUnique, 'name'>, values: readonly RawBuilder<unknown>[]): RawBuilder<string> =>
  sql<string>`hash_record_extended(row(${sql.join(values)}), ${sql.lit(Number(/\d+$/.exec(unique.name)?.[0] ?? 0))})`;

export type Rule = { kind: 'unique'; unique: CompanionUnique } | { kind: 'reference'; reference: Companion['references'][number] };

/** All rules of the table but `except`. */
export const rulesOf = ({ uniques, references }: Companion, except: CompanionUnique | undefined): Rule[] => [
  ...uniques.flatMap((unique) => (unique.name === except?.name ? [] : { kind: 'unique' as const, unique })),
  ...references.map((reference) => ({ kind: 'reference' as const, reference })),
];

/** SQL: a row for each unique rule whose values a row or its entity has, and for each reference to no entity. */
export function statesOf({ table, columns }: Companion, rules: readonly Rule[], rows: readonly CandidateRow[]): RawBuilder<RuleState> {
  const namesOf = (rule: Rule) => (rule.kind === 'unique' ? rule.unique.columns : [rule.reference.column]);
  const wanted = new Set(rules.flatMap(namesOf));
  const used = columns.filter(({ name }) => wanted.has(name));
  const input = rows.map(({ key, values }) => ({ key, ...Object.fromEntries(used.map(({ name }) => [name, values[name] ?? null])) }));
  const typed = sql.join([sql`key bigint`, ...used.map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`)]);
  const names = sql.join([sql.ref('key'), ...used.map(({ name }) => sql.ref(name))]);
  const stored = used.map((column) => sql`${storedValue(column, sql.ref(column.name))} as ${sql.ref(column.name)}`);
  const parts = rules.map((rule, index) =>
    rule.kind === 'unique' ? uniqueState(table, rule.unique, index) : referenceState(rule.reference, used, index),
  );
  return sql<RuleState>`
    with input as materialized (
      select n, key, ${sql.join(stored)}
      from rows from (jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as (${typed})) with ordinality as input (${names}, n)
    )
    ${sql.join(parts, sql` union all `)}`;
}

const areAllThere = (values: readonly RawBuilder<unknown>[]): RawBuilder<boolean> =>
  sql<boolean>`${sql.join(
    values.map((value) => sql`${value} is not null`),
    sql` and `,
  )}`;

function uniqueState(table: string, unique: CompanionUnique, index: number): RawBuilder<unknown> {
  const inputs = unique.columns.map((name) => sql`input.${sql.ref(name)}`);
  const tests = unique.columns.map((name) => sql`x.${sql.ref(name)} = input.${sql.ref(name)}`);
  const present = unique.columns.map((name) => sql`x.${sql.ref(name)}`);
  // The lateral joins take the rows one by one from the indexes: the planner cannot estimate that there are few.
  return sql`
    select input.n, ${sql.lit(index)} as rule, case when ${areAllThere(inputs)} then ${hashOf(unique, inputs)} end as hash,
      holder.key as holder, own.hash as own
    from input
    left join lateral (select x.key from ${inSchema(table)} as x where ${sql.join(tests, sql` and `)} offset 0) as holder on true
    left join lateral (
      select ${hashOf(unique, present)} as hash from ${inSchema(table)} as x where x.key = input.key and ${areAllThere(present)} offset 0
    ) as own on true
    where (${areAllThere(inputs)}) or own.hash is not null`;
}

function referenceState(
  { column, to }: Companion['references'][number],
  used: readonly CompanionColumn[],
  index: number,
): RawBuilder<unknown> {
  if (!used.some(({ name }) => name === column)) throw new Error('the column of each reference is in the input');
  const value = sql`input.${sql.ref(column)}`;
  return sql`
    select input.n, ${sql.lit(index)} as rule, null::bigint as hash, null::bigint as holder, null::bigint as own from input
    where ${value} is not null and not exists (select from entity where entity.name = ${to} and entity.key = ${value} offset 0)`;
}
