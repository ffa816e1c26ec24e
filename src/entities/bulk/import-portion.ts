/** Writes a portion of the rows of an import in one transaction. A row that violates a rule is left out, and the others are written. */
import type { Transaction } from 'kysely';
import type { Origin } from '../../audit/store.ts';
import type { Companion, CompanionUnique } from '../../companion/layout.ts';
import type { Store } from '../../database/port.ts';
import { statementsWithin } from '../../database/statements-within.ts';
import type { Database } from '../../database/tables.ts';
import type { EntityType } from '../../entity-types/types.ts';
import { Problem } from '../../errors.ts';
import { Pauses } from '../../http/turns.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/row-predicate.ts';
import { bulkRowOf } from './bulk-statements.ts';
import { changeValues } from '../changed.ts';
import { rowOf } from '../grouped-writes.ts';
import { matchByUnique, type ImportMode, type MatchedEntity } from './import-statements.ts';
import { faultsOfReferences, referencePaths } from '../references.ts';
import { checkedBy, type Checked } from '../store.ts';
import { typeHasRevision } from '../type-guard.ts';
import { runTolerantly, TypeChanged, whileTypeLasts, type Refused } from './tolerant-statements.ts';
import { freshFields } from '../fresh-fields.ts';
import { conflictOf } from '../upsert.ts';
import { writeStatementsOf } from '../write-statements.ts';
import { parseJson } from '../../parse-json.ts';

/** How often rows are looked at again after others have changed their entities meanwhile. */
const rounds = 20;

/** A row whose fields the type has accepted, unless they are to be merged. */
export interface PortionRow extends Checked {
  row: number;
  fields: unknown;
  /** JSON text. */
  text: string;
}

export interface PortionRequest {
  type: EntityType | undefined;
  origin: Origin;
  create: Permit<'create'>;
  /** By which rule entities are found that exist; undefined to create all. */
  by: { companion: Companion; unique: CompanionUnique; mode: ImportMode; update: Permit<'update'> } | undefined;
  /** Whether everything is rolled back at the end. */
  isDryRun: boolean;
  /** Bytes of the fields of an entity. */
  limitBytes: number;
}

export interface PortionOutcome {
  created: number;
  updated: number;
  unchanged: number;
  refused: { row: number; problem: Problem }[];
}

class ImportDryRun extends Error {}

/** Writes the rows. Undefined, with nothing written, when the type has changed. */
export async function writePortion(
  store: Store,
  request: PortionRequest,
  rows: readonly PortionRow[],
): Promise<PortionOutcome | undefined> {
  let outcome: PortionOutcome | undefined;
  try {
    return await store.transaction(async (trx) => {
      outcome = await new Portion(trx, request).write(rows);
      if (request.isDryRun) throw new ImportDryRun();
      return outcome;
    });
  } catch (error) {
    if (error instanceof TypeChanged) return undefined;
    if (error instanceof ImportDryRun) return outcome;
    throw error;
  }
}

class Portion {
  readonly #trx: Transaction<Database>;
  readonly #request: PortionRequest;
  readonly #layout: Companion | undefined;
  readonly #outcome: PortionOutcome = { created: 0, updated: 0, unchanged: 0, refused: [] };

  constructor(trx: Transaction<Database>, request: PortionRequest) {
    this.#trx = trx;
    this.#request = request;
    this.#layout = request.type?.companion ?? undefined;
  }

  async write(rows: readonly PortionRow[]): Promise<PortionOutcome> {
    let left = rows;
    for (let round = 1; left.length > 0; round++) {
      const next = this.#request.by ? await this.#writeBy(left, this.#request.by) : await this.#create(left);
      // Rows of one entity are written one after the other. Each round writes the first of them, if none else changes it.
      if (next.length === left.length && round >= rounds) {
        for (const { row } of next) this.#refuse(row, new Problem('busy', { values: { seconds: 1 } }));
        break;
      }
      left = next;
    }
    return this.#outcome;
  }

  #refuse(row: number, problem: Problem): void {
    this.#outcome.refused.push({ row, problem });
  }

  /** Creates an entity of each row. */
  async #create(rows: readonly PortionRow[]): Promise<readonly PortionRow[]> {
    const refused = await this.#insert(rows);
    for (const { row, problem } of refused) this.#refuse(row.row, problem);
    return [];
  }

  /** Returns the rows that have to be looked at once more. */
  async #writeBy(rows: readonly PortionRow[], by: NonNullable<PortionRequest['by']>): Promise<readonly PortionRow[]> {
    const { type } = this.#request;
    const matches = await this.#match(rows, by);
    const [fresh, again]: [PortionRow[], PortionRow[]] = [[], []];
    const changed: RowReplacement[] = [];
    const seen = new Set<string>();
    const pauses = new Pauses();
    for (const [index, row] of rows.entries()) {
      await pauses.whenLong();
      const match = matches.get(index);
      if (!match) fresh.push(...(by.mode === 'merge' ? this.#mergedIntoNothing(row) : [row]));
      else if (seen.has(match.key)) again.push(row);
      else if (match.version === null) this.#refuse(row.row, conflictOf(by.companion, by.unique));
      else if (match.isUnchanged) this.#outcome.unchanged += 1;
      else if (type?.requiresIfMatch) this.#refuse(row.row, new Problem('precondition-required'));
      else {
        seen.add(match.key);
        const wanted = this.#mergedInto(row, match);
        if (wanted) changed.push({ row: wanted, key: match.key, version: match.version, present: match.present });
      }
    }
    again.push(...(await this.#replace(changed, by.update)));
    for (const { row, problem } of await this.#insert(fresh)) {
      // An entity with these values has appeared, perhaps of another row of this portion.
      if (problem.code === 'unique-conflict' && isOf(problem, by) && (await this.#match([row], by)).size > 0) again.push(row);
      else this.#refuse(row.row, problem);
    }
    return again.toSorted((one, other) => one.row - other.row);
  }

  async #match(rows: readonly PortionRow[], { companion, unique, mode, update }: NonNullable<PortionRequest['by']>) {
    const input = rows.map(({ text, companion: of }) => rowOf({ ...of?.values }, 'fields', text));
    const paths = JSON.stringify(referencePaths(update, companion));
    const query = matchByUnique(companion, unique, { permit: permitValues(update), mode, rows: `[${input.join()}]`, paths });
    const found = await whileTypeLasts(() => query.execute(this.#trx));
    return new Map(found.rows.map((match) => [Number(match.n) - 1, match]));
  }

  /** The row as a new entity; none, with the row refused, if the type does not accept it. */
  #mergedIntoNothing({ row, fields: sent, text: sentText }: PortionRow): PortionRow[] {
    const { type } = this.#request;
    const accepted = this.#orRefuse(row, () => {
      const { fields, text } = freshFields({ fields: sent, text: sentText });
      type?.check(fields);
      return { row, fields, text, ...checkedBy(type, fields) };
    });
    return accepted ? [accepted] : [];
  }

  /** The row with the merged fields; undefined if these are refused. */
  #mergedInto(row: PortionRow, { merged }: MatchedEntity): PortionRow | undefined {
    if (merged === null) return row;
    const { type, limitBytes } = this.#request;
    return this.#orRefuse(row.row, () => {
      if (Buffer.byteLength(merged) > limitBytes) throw new Problem('content-too-large', { values: { limit: limitBytes } });
      const fields: unknown = parseJson(merged);
      type?.check(fields);
      return { row: row.row, fields, text: merged, ...checkedBy(type, fields) };
    });
  }

  /** What `check` returns; undefined, with the row refused, if it throws a problem. */
  #orRefuse<T>(row: number, check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#refuse(row, error);
      return undefined;
    }
  }

  /** Returns those of `rows` whose new and changed references lead to entities to which the caller may refer, and refuses the others. */
  async #withReferences<R extends { row: PortionRow; present?: MatchedEntity['present'] }>(
    permit: Permit<'create' | 'update'>,
    rows: readonly R[],
  ): Promise<R[]> {
    if (!this.#layout) return [...rows];
    const referring = rows.map(({ row, present }) => ({ values: row.companion?.values ?? {}, present }));
    const found = await faultsOfReferences(statementsWithin(this.#trx), permit, this.#layout, referring);
    return rows.filter(({ row: { row } }, index) => {
      const faults = found[index] ?? [];
      if (faults.length > 0) this.#refuse(row, new Problem('validation-failed', { faults }));
      return faults.length === 0;
    });
  }

  /** Returns the rows whose entity has been changed meanwhile. Throws {@link TypeChanged} when that may be the reason instead. */
  async #replace(wanted: readonly RowReplacement[], permit: Permit<'update'>): Promise<PortionRow[]> {
    const { origin, limitBytes } = this.#request;
    const changes = await this.#withReferences(permit, wanted);
    const { replaceMany } = writeStatementsOf(this.#layout);
    const lost: PortionRow[] = [];
    const inputs = changes.map(({ row, key, version }) => {
      const change = { ...changeValues(permit, origin, row.typeRevision), ...permitValues(permit), key, version, limit: 2 * limitBytes };
      return { row, text: rowOf({ ...change, ...row.companion?.values }, 'fields', row.text) };
    });
    const refused = await runTolerantly(this.#trx, this.#layout, inputs, async (some) => {
      const { rows } = await this.#trx.executeQuery(replaceMany.query({ rows: `[${some.map(({ text }) => text).join()}]` }));
      const done = new Set(rows.map(({ n }) => Number(n) - 1));
      this.#outcome.updated += done.size;
      lost.push(...some.filter((_, index) => !done.has(index)).map(({ row }) => row));
    });
    for (const { row, problem } of refused) this.#refuse(row.row, problem);
    const revision = this.#request.type?.revision ?? '0';
    if (lost.length > 0 && !(await typeHasRevision(statementsWithin(this.#trx), permit.entity, revision))) throw new TypeChanged();
    return lost;
  }

  /** Returns the rows that violate a rule. */
  async #insert(wanted: readonly PortionRow[]): Promise<Refused<PortionRow>[]> {
    const { create, origin } = this.#request;
    const rows = (
      await this.#withReferences(
        create,
        wanted.map((row) => ({ row })),
      )
    ).map(({ row }) => row);
    const { insertBulk } = writeStatementsOf(this.#layout);
    const change = { ...changeValues(create, origin, this.#request.type?.revision ?? '0'), name: create.entity };
    const inputs = rows.map((row) => ({ row, text: bulkRowOf(row.text, row.companion?.values) }));
    return await runTolerantly(this.#trx, this.#layout, inputs, async (some) => {
      const found = await this.#trx.executeQuery(insertBulk.query({ ...change, rows: `[${some.map(({ text }) => text).join()}]` }));
      if (found.rows.length !== some.length) throw new TypeChanged();
      this.#outcome.created += some.length;
    });
  }
}

interface RowReplacement {
  row: PortionRow;
  key: string;
  version: string;
  present: MatchedEntity['present'];
}

/** Whether the conflict is one of the rule itself. */
const isOf = ({ faults }: Problem, { companion, unique }: { companion: Companion; unique: CompanionUnique }): boolean =>
  faults.map(({ pointer }) => pointer).join() ===
  conflictOf(companion, unique)
    .faults.map(({ pointer }) => pointer)
    .join();
