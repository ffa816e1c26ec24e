/** Creates many entities of one name: all of them or none, in one transaction. */
import type { Transaction } from 'kysely';
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
import { ConflictSearch } from './conflicts.ts';
import { statementParts } from './statement-parts.ts';
import { TypeChanged, whileTypeLasts } from './tolerant-statements.ts';
import { changeValues, type ChangeValues } from '../changed.ts';
import { requireEntityLimits } from '../entity-limits.ts';
import { faultsOfReferences } from '../references.ts';
import { checkedBy, type CheckedFields } from '../store.ts';
import { violationOf } from '../violations.ts';
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
      return await store.transaction(async (trx) => {
        const conflicts = await bulk.findConflicts(trx);
        if (conflicts.length === 0) return await bulk.insertAll(trx);
        const isConflict = conflicts.some(({ code }) => code === 'duplicate-value');
        if (!isConflict) throw new Problem('validation-failed', { faults: conflicts });
        throw new Problem('unique-conflict', { faults: conflicts, headers: { 'Retry-After': '1' } });
      });
    } catch (error) {
      if (error instanceof TypeChanged) return undefined;
      throw error;
    }
  });
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
  readonly #checked: readonly CheckedFields[];
  readonly #change: ChangeValues & { name: string };
  readonly #layout: Companion | undefined;

  constructor(permit: Permit<'create'>, { origin }: Caller, checked: readonly CheckedFields[]) {
    const [first] = checked;
    this.#checked = checked;
    this.#change = { ...changeValues(permit, origin, first?.typeRevision ?? '0'), name: permit.entity };
    this.#layout = first?.companion?.layout;
  }

  /** The faults of the items that conflict with an entity, or with an item before them, in their order, up to 20. */
  async findConflicts(trx: Transaction<Database>): Promise<Fault[]> {
    const layout = this.#layout;
    if (!layout) return [];
    const rows = this.#checked.map(({ companion }, index) => ({ row: index + 1, key: null, values: companion?.values ?? {} }));
    const found = await whileTypeLasts(() => new ConflictSearch({ namesRows: false }).begin().check(trx, layout, rows));
    const faults = found.flatMap((conflict, index) => conflict?.problem.under(`/${index}`).faults ?? []);
    return faults.slice(0, maximumFaults);
  }

  /** Throws {@link TypeChanged} also if another transaction has taken a value meanwhile, so that the items are looked at again. */
  async insertAll(trx: Transaction<Database>): Promise<CreatedKey[]> {
    const created: CreatedKey[] = [];
    const rows = this.#checked.map(({ fields, companion }) => bulkRowOf(fields, companion?.values));
    for (const some of statementParts(rows, (row) => row)) created.push(...(await this.#insert(trx, some)));
    return created;
  }

  async #insert(trx: Transaction<Database>, rows: readonly string[]): Promise<CreatedKey[]> {
    const { insertBulk } = writeStatementsOf(this.#layout);
    const insert = insertBulk.query({ ...this.#change, rows: `[${rows.join()}]` });
    const found = await whileTypeLasts(() => trx.executeQuery(insert)).catch((error: unknown) => {
      throw this.#layout && violationOf(this.#layout, error) ? new TypeChanged() : error;
    });
    if (found.rows.length !== rows.length) throw new TypeChanged();
    return found.rows
      .map(({ key, version }) => ({ key, version: Number(version) }))
      .toSorted((one, other) => Number(BigInt(one.key) - BigInt(other.key)));
  }
}
