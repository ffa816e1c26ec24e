/** Creates many entities of one name: all of them or none, in one transaction. */
import type { Transaction } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import type { Statements } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import type { Caller } from '../../authn/caller.ts';
import type { EntityType } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import { maximumFaults, type Fault } from '../../problems/faults.ts';
import { Pauses } from '../../admission/turns.ts';
import type { Permit } from '../../rights/permit.ts';
import { bulkRowOf } from './create-statements.ts';
import { ConflictSearch } from './conflicts.ts';
import { statementParts } from './statement-parts.ts';
import { insertPortion, type PortionOrigin } from './execute.ts';
import { judgeCreations } from './judge.ts';
import type { Judgement } from './judgement.ts';
import { withPresets } from './presets.ts';
import { runTolerantly, type StatementRow } from './tolerant-statements.ts';
import { TypeChanged, whileTypeLasts } from './type-guard.ts';
import { faultsOfReferences } from './references.ts';
import { allowChange, requireEntityLimits, requireNoFaults, untyped, validationProblem, type CheckedFields } from './rules.ts';
import { conflictProblem, knownBy, knownConflict, violationOf } from './violations.ts';
import type { Writes } from './update.ts';

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
  { store, admission }: Writes,
  permit: Permit<'create'>,
  caller: Caller,
  type: EntityType | undefined,
  sent: readonly NewFields[],
  limitBytes: number,
): Promise<CreatedKey[] | undefined> {
  const items = sent.map((each) => withPresets(permit, each));
  const inTurn = <T>(job: () => Promise<T>) => admission.run('heavy-write', { flow: permit.userName, caller }, job);
  const texts = items.map(({ text }) => text);
  const judgements = permit.change ? await inTurn(() => judgeCreations(store, permit, texts)) : [];
  const checked = await checkAll(judgements, type, items, limitBytes);
  return await inTurn(async () => {
    await requireAllReferences(store, permit, checked);
    for (const [index, judgement] of judgements.entries()) requireTargets(judgement, index);
    const bulk = new Bulk(permit, caller, checked);
    try {
      return await store
        .transaction((trx) => bulk.write(trx))
        .catch((error: unknown) => {
          if (!(error instanceof RuleViolated)) throw error;
          return store.transaction((trx) => bulk.writeTolerantly(trx));
        });
    } catch (error) {
      if (error instanceof TypeChanged) return undefined;
      throw error;
    }
  });
}

/** Throws 422 with the faults of all items. */
async function checkAll(
  judgements: readonly (Judgement | undefined)[],
  type: EntityType | undefined,
  items: readonly NewFields[],
  limitBytes: number,
): Promise<CheckedFields[]> {
  const faults: Fault[] = [];
  const checked: CheckedFields[] = [];
  const pauses = new Pauses();
  for (const [index, { fields, text }] of items.entries()) {
    await pauses.whenLong();
    try {
      requireEntityLimits(text, limitBytes);
      checked.push({ fields: text, ...allowChange({ judgement: judgements[index], type, next: { text, fields } }) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code !== 'validation-failed') throw error.code === 'field-forbidden' ? error.under(`/${index}`) : error;
      faults.push(...error.under(`/${index}`).faults);
      if (faults.length >= maximumFaults) break;
    }
  }
  requireNoFaults(faults);
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
  requireNoFaults(faults);
}

/** Throws 403 as {@link Judgement.requireAcceptedTargets} for the item at the index. */
function requireTargets(judgement: Judgement | undefined, index: number): void {
  try {
    judgement?.requireAcceptedTargets();
  } catch (error) {
    throw error instanceof Problem ? error.under(`/${index}`) : error;
  }
}

/** An item violates a rule although no conflict was found: another transaction has come before, or the table is being built and cannot be searched. */
class RuleViolated extends Error {}

/** 422 if all faults are references to no entity, otherwise 409. */
function problemOfConflicts(faults: readonly Fault[]): Problem {
  const isConflict = faults.some(({ code }) => code === 'duplicate-value');
  return isConflict ? conflictProblem(faults) : validationProblem(faults);
}

class Bulk {
  readonly #checked: readonly CheckedFields[];
  readonly #permit: Permit<'create'>;
  readonly #origin: PortionOrigin;
  readonly #layout: Companion | undefined;

  constructor(permit: Permit<'create'>, { origin }: Caller, checked: readonly CheckedFields[]) {
    const [{ typeRevision, companion } = untyped] = checked;
    this.#checked = checked;
    this.#permit = permit;
    this.#layout = companion?.layout;
    this.#origin = { origin, typeRevision, layout: this.#layout };
  }

  /** Writes all items. Throws the conflicts that can be found before, {@link RuleViolated} for any other, and {@link TypeChanged}. */
  async write(trx: Transaction<Database>): Promise<CreatedKey[]> {
    await this.#requireNoConflicts(trx);
    const created: CreatedKey[] = [];
    for (const some of statementParts(this.#rows(), ({ text }) => text)) created.push(...(await this.#insert(trx, some)));
    return created;
  }

  /** Writes all items likewise. Throws 409 or 422 with the places of those that violate a rule while they are written. */
  async writeTolerantly(trx: Transaction<Database>): Promise<CreatedKey[]> {
    await this.#requireNoConflicts(trx);
    const created: CreatedKey[] = [];
    const insert = async (some: readonly StatementRow<number>[]) => void created.push(...(await this.#insertPart(trx, some)));
    const refused = await runTolerantly(trx, this.#layout, this.#rows(), insert, maximumFaults);
    const faults = refused.flatMap(({ row, problem }) => knownConflict(problem, knownBy(this.#permit.change)).under(`/${row}`).faults);
    if (refused.length > 0) throw problemOfConflicts(faults.slice(0, maximumFaults));
    return created;
  }

  /** Throws the conflicts of the items with an entity, or with an item before them, in their order, up to 20. */
  async #requireNoConflicts(trx: Transaction<Database>): Promise<void> {
    const layout = this.#layout;
    if (!layout) return;
    const rows = this.#checked.map(({ companion }, index) => ({ row: index + 1, key: null, values: companion?.values ?? {} }));
    const found = await whileTypeLasts(() =>
      new ConflictSearch({ namesRows: false, knows: knownBy(this.#permit.change) }).begin().check(trx, layout, rows),
    );
    const faults = found.flatMap((conflict, index) => conflict?.problem.under(`/${index}`).faults ?? []);
    if (faults.length > 0) throw problemOfConflicts(faults.slice(0, maximumFaults));
  }

  #rows(): StatementRow<number>[] {
    return this.#checked.map(({ fields, companion }, index) => ({ row: index, text: bulkRowOf(fields, companion?.values) }));
  }

  async #insert(trx: Transaction<Database>, rows: readonly StatementRow<number>[]): Promise<CreatedKey[]> {
    try {
      return await this.#insertPart(trx, rows);
    } catch (error) {
      throw this.#layout && violationOf(this.#layout, error) ? new RuleViolated() : error;
    }
  }

  async #insertPart(trx: Transaction<Database>, rows: readonly StatementRow<number>[]): Promise<CreatedKey[]> {
    const texts = rows.map(({ text }) => text);
    const inserted = await insertPortion(trx, this.#permit, this.#origin, texts);
    return inserted.map(({ key, version }) => ({ key, version: Number(version) }));
  }
}
