/**
 * Finds out which rows would violate a rule of the companion table, before any of them is written. A row that is written and rolled back costs the database as much as
 * one that stays.
 */
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { inputType, storedValue } from '../companion/columns.ts';
import {
  readableCompanion,
  type Companion,
  type CompanionColumn,
  type CompanionUnique,
  type CompanionValues,
} from '../companion/layout.ts';
import { inSchema } from '../companion/table.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { duplicatesAt, referenceFaults } from './violations.ts';
import { validationProblem } from './rules.ts';
import { maximumHashes, SeenValues } from './seen-values.ts';

/** A row to write. */
export interface CandidateRow {
  /** Its place in the file, from 1. */
  row: number;
  /** The entity to which it belongs; null for a new one. */
  key: string | null;
  values: CompanionValues;
}

/** The state of a row under one rule. */
interface RuleState {
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

/** How the rows of a file are named. */
export interface RowNaming {
  /** Whether a fault says which row has the value. */
  namesRows: boolean;
  /** The key that stands for each entity that a row of a dry run would create. No entity has it. */
  plannedKey?: string | undefined;
}

/**
 * The conflicts of the rows of a file or a body, in their order: with entities, and with the rows before them. It holds what rows of earlier transactions of the same
 * file have had, so that a dry run finds the same as an import.
 */
export class ConflictSearch {
  readonly #seen = new SeenValues();
  /** The values that entities had until a row of the file changed them. */
  readonly #released = new SeenValues();
  readonly #naming: RowNaming;

  constructor(naming: RowNaming) {
    this.#naming = naming;
  }

  /** The most values that are compared, if the file has had more; otherwise undefined. */
  get exceeded(): number | undefined {
    return this.#seen.count + this.#released.count > maximumHashes ? maximumHashes : undefined;
  }

  /** A search among the rows of one transaction. */
  begin(): PortionConflicts {
    return new PortionConflicts(this.#seen, this.#released, this.#naming);
  }

  /** The row of an earlier transaction that has these values of a unique rule; undefined for none. */
  async rowWith(
    store: Pick<Statements, 'query'>,
    { columns }: Companion,
    unique: CompanionUnique,
    values: CompanionValues,
  ): Promise<number | undefined> {
    const used = columns.filter(({ name }) => unique.columns.includes(name));
    const typed = sql.join(used.map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`));
    const stored = unique.columns.flatMap((name) =>
      used.filter((column) => column.name === name).map((column) => storedValue(column, sql.ref(name))),
    );
    const query = sql<{ hash: string }>`
      select ${hashOf(unique, stored)} as hash from jsonb_to_record(${JSON.stringify(values)}::jsonb) as input (${typed})`;
    const [row] = await store.query(query.compile(builder));
    return row && this.#seen.rowOf(row.hash);
  }
}

/** The values that an accepted row has, and those that it releases. */
interface Holding {
  hashes: string[];
  released: string[];
}

export class PortionConflicts {
  readonly #seen: SeenValues;
  readonly #released: SeenValues;
  readonly #naming: RowNaming;
  readonly #rows = new Map<string, number>();
  readonly #releasedHere = new Set<string>();
  readonly #holdings = new Map<number, Holding>();

  constructor(seen: SeenValues, released: SeenValues, naming: RowNaming) {
    this.#seen = seen;
    this.#released = released;
    this.#naming = naming;
  }

  /** The row of the file that has these values, given as the hash of a rule; undefined for none. */
  firstRow(hash: string): number | undefined {
    return this.#rows.get(hash) ?? this.#seen.rowOf(hash);
  }

  /** Notes that a row has the values of a hash, and that its entity has those of another one no more. */
  accept(row: number, hashes: readonly string[], released: readonly string[] = []): void {
    const holding = this.#holdings.get(row) ?? { hashes: [], released: [] };
    this.#holdings.set(row, { hashes: [...holding.hashes, ...hashes], released: [...holding.released, ...released] });
    for (const hash of hashes) this.#rows.set(hash, row);
    for (const hash of released) this.#releasedHere.add(hash);
  }

  /** Forgets a row that was accepted and is not written. */
  withdraw(row: number): void {
    for (const hash of this.#holdings.get(row)?.hashes ?? []) this.#rows.delete(hash);
    for (const hash of this.#holdings.get(row)?.released ?? []) this.#releasedHere.delete(hash);
    this.#holdings.delete(row);
  }

  /** Stores what the rows have for the transactions behind this one, which has been committed. */
  commit(): void {
    for (const [row, { hashes, released }] of this.#holdings) {
      for (const hash of hashes) this.#seen.add(hash, row);
      for (const hash of released) this.#released.add(hash, row);
    }
  }

  /**
   * The problem of each row that conflicts, at the place of the row among `rows`; undefined for the others, which are then accepted. `except` is a rule that the caller
   * has applied already.
   */
  async check(
    trx: Transaction<Database>,
    layout: Companion,
    rows: readonly CandidateRow[],
    except?: CompanionUnique,
  ): Promise<(Conflict | undefined)[]> {
    const companion = readableCompanion(layout);
    const rules = companion ? rulesOf(companion, except) : [];
    if (!companion || rules.length === 0 || rows.length === 0) return rows.map(() => undefined);
    const found = await statesOf(companion, rules, rows).execute(trx);
    const byRow = Map.groupBy(found.rows, ({ n }) => Number(n) - 1);
    return rows.map((row, index) => this.#decide(companion, rules, row, byRow.get(index) ?? []));
  }

  #decide(
    companion: Companion,
    rules: readonly Rule[],
    { row, key, values }: CandidateRow,
    states: readonly RuleState[],
  ): Conflict | undefined {
    const duplicates: Fault[] = [];
    const missing: Fault[] = [];
    let duplicateOf: number | undefined;
    for (const { rule: index, hash, holder } of states) {
      const rule = rules[index];
      if (!rule) continue;
      if (rule.kind === 'reference') {
        const isPlanned = values[rule.reference.column] === this.#naming.plannedKey;
        if (!isPlanned) missing.push(...referenceFaults(companion, rule.reference.column));
      } else if (hash !== null) {
        const first = this.firstRow(hash);
        const isFree = holder === null || holder === key || this.#releasedHere.has(hash) || this.#released.rowOf(hash) !== undefined;
        if (first === undefined && isFree) continue;
        duplicateOf ??= first;
        duplicates.push(...duplicatesAt(companion, rule.unique.columns, this.#naming.namesRows ? first : undefined));
      }
    }
    if (missing.length > 0) return { problem: validationProblem(missing) };
    if (duplicates.length > 0)
      return { problem: new Problem('unique-conflict', { faults: duplicates, headers: { 'Retry-After': '1' } }), duplicateOf };
    const hashes = states.flatMap(({ hash }) => hash ?? []);
    this.accept(
      row,
      hashes,
      states.flatMap(({ own, hash }) => (own !== null && own !== hash ? own : [])),
    );
    return undefined;
  }
}

/** Why a row is refused. */
export interface Conflict {
  problem: Problem;
  /** The row of the same file that has the value; undefined if an entity has it. */
  duplicateOf?: number | undefined;
}

type Rule = { kind: 'unique'; unique: CompanionUnique } | { kind: 'reference'; reference: Companion['references'][number] };

const rulesOf = ({ uniques, references }: Companion, except: CompanionUnique | undefined): Rule[] => [
  ...uniques.flatMap((unique) => (unique.name === except?.name ? [] : { kind: 'unique' as const, unique })),
  ...references.map((reference) => ({ kind: 'reference' as const, reference })),
];

/** SQL: a row for each unique rule whose values a row or its entity has, and for each reference to no entity. */
function statesOf({ table, columns }: Companion, rules: readonly Rule[], rows: readonly CandidateRow[]): RawBuilder<RuleState> {
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
