/**
 * Finds out which rows would violate a rule of the companion table, before any of them is written. A row that is written and rolled back costs the database as much as
 * one that stays.
 */
import { sql, type Transaction } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { inputType, storedValue } from '../companion/columns.ts';
import { readableCompanion, type Companion, type CompanionUnique, type CompanionValues } from '../companion/layout.ts';
import type { Database } from '../../database/tables.ts';
import type { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { hashOf, rulesOf, statesOf, type CandidateRow, type Rule, type RuleState } from './conflict-statements.ts';
import { conflictProblem, duplicatesAt, knownDuplicates, referenceFaults, type KnownField } from './violations.ts';
import { validationProblem } from './rules.ts';
import { maximumHashes, SeenValues } from './seen-values.ts';

/** How the rows of a file are named. */
export interface RowNaming {
  /** Whether a fault says which row has the value. */
  namesRows: boolean;
  /** The key that stands for each entity that a row of a dry run would create. No entity has it. */
  plannedKey?: string | undefined;
  /** Chooses the fields that a fault may name; undefined if they are chosen later. */
  knows?: KnownField;
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
        const faults = duplicatesAt(companion, rule.unique.columns, this.#naming.namesRows ? first : undefined);
        duplicates.push(...knownDuplicates(faults, this.#naming.knows));
      }
    }
    if (missing.length > 0) return { problem: validationProblem(missing) };
    if (duplicates.length > 0) return { problem: conflictProblem(duplicates), duplicateOf };
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
