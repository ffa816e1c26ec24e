/** Creates many entities of one name: all of them or none, in one transaction. */
import { sql, type Transaction } from 'kysely';
import type { Companion } from '../../companion/layout.ts';
import type { Statements } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import type { Caller } from '../../authn/caller.ts';
import type { EntityType } from '../../entity-types/types.ts';
import { Problem } from '../../errors.ts';
import { maximumFaults, type Fault } from '../../faults.ts';
import { Pauses } from '../../http/turns.ts';
import type { Permit } from '../../rights/permit.ts';
import { bulkRowOf } from './bulk-statements.ts';
import { statementParts } from './statement-parts.ts';
import { changeValues, type ChangeValues } from '../changed.ts';
import { requireEntityLimits } from '../entity-limits.ts';
import { faultsOfReferences } from '../references.ts';
import { checkedBy, type CheckedFields } from '../store.ts';
import { underRulesOnce } from '../violations.ts';
import type { Writes } from '../update.ts';
import { writeStatementsOf } from '../write-statements.ts';

/** The fields of an entity to create: as parsed, and as JSON text. */
export interface NewFields {
  fields: unknown;
  text: string;
}

export interface CreatedKey {
  key: string;
  version: number;
}

/** Ends a transaction that must write nothing. */
class RolledBack extends Error {}

/**
 * Creates an entity for each of `items` and returns their keys in the same order. Undefined, with nothing written, when `type` has changed.
 * Throws 413 for an item beyond `limitBytes`. Throws 422 `validation-failed` or 409 `unique-conflict` with the faults of all items. Their
 * pointers begin with the index of the item.
 */
export async function createMany(
  { store, queues }: Writes,
  permit: Permit<'create'>,
  caller: Caller,
  type: EntityType | undefined,
  items: readonly NewFields[],
  limitBytes: number,
): Promise<CreatedKey[] | undefined> {
  const checked = await checkAll(type, items, limitBytes);
  return await queues.runHeavy(permit, caller, async () => {
    await requireAllReferences(store, permit, checked);
    const bulk = new Bulk(permit, caller, checked);
    try {
      return await store.transaction((trx) => bulk.insertAll(trx));
    } catch (error) {
      if (error instanceof RolledBack) return undefined;
      if (!isViolation(error)) throw error;
    }
    const conflicts: Fault[] = [];
    const rollBack = store.transaction(async (trx) => {
      conflicts.splice(0, Infinity, ...(await bulk.findConflicts(trx)));
      throw new RolledBack();
    });
    await rollBack.catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
    // The entities that had the values are gone meanwhile.
    if (conflicts.length === 0) return undefined;
    const isConflict = conflicts.some(({ code }) => code === 'duplicate-value');
    if (!isConflict) throw new Problem('validation-failed', { faults: conflicts });
    throw new Problem('unique-conflict', { faults: conflicts, headers: { 'Retry-After': '1' } });
  });
}

/** Whether a rule of the type does not hold, so that the items that violate it are worth looking for. */
function isViolation(error: unknown): error is Problem {
  return error instanceof Problem && (error.code === 'unique-conflict' || error.code === 'validation-failed');
}

/** Throws 422 with the faults of all items. */
async function checkAll(type: EntityType | undefined, items: readonly NewFields[], limitBytes: number): Promise<CheckedFields[]> {
  const faults: Fault[] = [];
  const checked: CheckedFields[] = [];
  const pauses = new Pauses();
  for (const [index, { fields, text }] of items.entries()) {
    await pauses.whenLong();
    try {
      requireEntityLimits(text, limitBytes);
      type?.check(fields);
      checked.push({ fields: text, ...checkedBy(type, fields) });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'validation-failed') throw error;
      faults.push(...error.under(`/${index}`).faults);
      if (faults.length >= maximumFaults) break;
    }
  }
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
  return checked;
}

/** Throws 422 with the faults of all items that refer to what the caller may not refer to. All have the same type. */
async function requireAllReferences(store: Statements, permit: Permit<'create'>, checked: readonly CheckedFields[]): Promise<void> {
  const layout = checked[0]?.companion?.layout;
  if (!layout) return;
  const rows = checked.map(({ companion }) => ({ values: companion?.values ?? {} }));
  const faults = (await faultsOfReferences(store, permit, layout, rows)).flatMap((some, index) =>
    some.map((fault) => ({ ...fault, pointer: `/${index}${fault.pointer ?? ''}` })),
  );
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
}

class Bulk {
  readonly #rows: string[];
  readonly #change: ChangeValues & { name: string };
  readonly #layout: Companion | undefined;

  constructor(permit: Permit<'create'>, { origin }: Caller, checked: readonly CheckedFields[]) {
    const [first] = checked;
    this.#rows = checked.map(({ fields, companion }) => bulkRowOf(fields, companion?.values));
    this.#change = { ...changeValues(permit, origin, first?.typeRevision ?? '0'), name: permit.entity };
    this.#layout = first?.companion?.layout;
  }

  async insertAll(trx: Transaction<Database>): Promise<CreatedKey[]> {
    const created: CreatedKey[] = [];
    for (const rows of this.#parts()) created.push(...(await this.#insert(trx, rows)));
    return created;
  }

  /** The faults of the rows that conflict with others, in their order, up to 20. The transaction must be rolled back. */
  async findConflicts(trx: Transaction<Database>): Promise<Fault[]> {
    const faults: Fault[] = [];
    let from = 0;
    for (const { length } of this.#parts()) {
      await this.#insertOrFind(trx, from, from + length, faults);
      from += length;
    }
    return faults;
  }

  /** Inserts the rows that conflict with none before them. Halves what cannot be inserted until one row is left, whose faults it adds. */
  async #insertOrFind(trx: Transaction<Database>, from: number, end: number, faults: Fault[]): Promise<void> {
    if (faults.length >= maximumFaults) return;
    await sql`savepoint items`.execute(trx);
    try {
      await this.#insert(trx, this.#rows.slice(from, end));
      await sql`release savepoint items`.execute(trx);
      return;
    } catch (error) {
      if (!isViolation(error)) throw error;
      await sql`rollback to savepoint items`.execute(trx);
      await sql`release savepoint items`.execute(trx);
      if (end - from === 1) {
        faults.push(...error.under(`/${from}`).faults);
        return;
      }
    }
    const middle = Math.ceil((from + end) / 2);
    await this.#insertOrFind(trx, from, middle, faults);
    await this.#insertOrFind(trx, middle, end, faults);
  }

  #parts(): Generator<readonly string[]> {
    return statementParts(this.#rows, (row) => row);
  }

  async #insert(trx: Transaction<Database>, rows: readonly string[]): Promise<CreatedKey[]> {
    const { insertBulk } = writeStatementsOf(this.#layout);
    const insert = insertBulk.query({ ...this.#change, rows: `[${rows.join()}]` });
    const found = await underRulesOnce(
      this.#layout,
      () => trx.executeQuery(insert),
      () => new RolledBack(),
    );
    if (found.rows.length !== rows.length) throw new RolledBack();
    return found.rows
      .map(({ key, version }) => ({ key, version: Number(version) }))
      .toSorted((one, other) => Number(BigInt(one.key) - BigInt(other.key)));
  }
}
