/** Writes a portion of the rows of an import in one transaction. A row that violates a rule is left out, and the others are written. */
import type { Transaction } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import type { Store } from '../../database/port.ts';
import { statementsWithin } from '../../database/statements-within.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { bulkRowOf } from './create-statements.ts';
import type { PortionConflicts } from './conflicts.ts';
import { insertPortion, replacementText, replacePortion } from './execute.ts';
import { RowMatcher } from './import-match.ts';
import { judgeCreations } from './judge.ts';
import { PortionTally, type PortionOutcome, type PortionRequest, type PortionRow, type RowChange } from './import-rows.ts';
import type { ImportRule } from './import-statements.ts';
import { faultsOfReferences } from './references.ts';
import { busyProblem } from '../../admission/refusals.ts';
import { requireNoFaults } from './rules.ts';
import { runTolerantly, type Refused } from './tolerant-statements.ts';
import { knownBy } from './violations.ts';
import { TypeChanged, whileTypeLasts } from './type-guard.ts';
import { conflictOf } from './upsert.ts';
import { typeHasRevision } from '../type-revision.ts';

/** How often rows are looked at again after others have changed their entities meanwhile. */
const rounds = 20;

/** Writes the rows, or finds out what writing them would do. Undefined, with nothing written, when the type has changed. */
export async function writePortion(
  store: Store,
  request: PortionRequest,
  rows: readonly PortionRow[],
): Promise<PortionOutcome | undefined> {
  if (rows.length === 0) return { created: 0, updated: 0, unchanged: 0, removedFields: 0, refused: [] };
  try {
    const { outcome, conflicts } = await store.transaction(async (trx) => {
      // A transaction that runs again after a deadlock must not find the rows of the attempt before.
      const conflicts = request.conflicts.begin();
      return { outcome: await new Portion(trx, request, conflicts).write(rows), conflicts };
    });
    conflicts.commit();
    return outcome;
  } catch (error) {
    if (error instanceof TypeChanged) return undefined;
    throw error;
  }
}

class Portion {
  readonly #trx: Transaction<Database>;
  readonly #request: PortionRequest;
  readonly #layout: Companion | undefined;
  readonly #tally: PortionTally;
  readonly #matcher: RowMatcher | undefined;

  constructor(trx: Transaction<Database>, request: PortionRequest, conflicts: PortionConflicts) {
    this.#trx = trx;
    this.#request = request;
    this.#layout = request.type?.companion ?? undefined;
    this.#tally = new PortionTally(conflicts, knownBy((request.by?.update ?? request.create).change, namedBy(request)));
    this.#matcher = request.by && new RowMatcher(trx, request, request.by, this.#tally);
  }

  async write(rows: readonly PortionRow[]): Promise<PortionOutcome> {
    let left = rows;
    for (let round = 1; left.length > 0; round += 1) {
      const { changes, again } = this.#matcher
        ? await this.#matcher.changesOf(left)
        : { changes: left.map((row) => ({ row, match: undefined })), again: [] };
      const accepted = await this.#accepted(changes);
      const next = [...again, ...(this.#request.isDryRun ? this.#count(accepted) : await this.#writeAll(accepted))];
      // Each round decides about its first row, unless others change the entity or take the value before it.
      if (next.length === left.length && round >= rounds) {
        for (const { row } of next) this.#tally.refuse({ row, problem: busyProblem() });
        break;
      }
      left = next.toSorted((one, other) => one.row - other.row);
    }
    return this.#tally.outcome;
  }

  /** The changes that the rights and the rules of the type allow. The rows of the others are refused. */
  async #accepted(wanted: readonly RowChange[]): Promise<RowChange[]> {
    const layout = this.#layout;
    const permitted = await this.#permitted(wanted);
    const changes = await this.#withReferences(layout, permitted);
    if (!layout) return changes;
    const { by } = this.#request;
    const applied = by?.rule.kind === 'unique' ? by.rule.unique : undefined;
    const candidates = changes.map(({ row, match }) => ({ row: row.row, key: match?.key ?? null, values: row.companion?.values ?? {} }));
    const found = await whileTypeLasts(() => this.#tally.conflicts.check(this.#trx, layout, candidates, applied));
    return changes.filter(({ row }, index) => {
      const conflict = found[index];
      if (conflict) this.#tally.refuse({ row: row.row, ...conflict });
      return !conflict;
    });
  }

  /** The changes without the new entities that the rules of the permit do not allow. */
  async #permitted(wanted: readonly RowChange[]): Promise<RowChange[]> {
    const { create } = this.#request;
    if (!create.change) return [...wanted];
    const fresh = wanted.filter(({ match }) => !match);
    const judgements = await judgeCreations(
      statementsWithin(this.#trx),
      create,
      fresh.map(({ row }) => row.text),
    );
    const judged = new Map(fresh.map((change, index) => [change, judgements[index]]));
    return wanted.flatMap((change) => {
      if (change.match) return [change];
      const judgement = judged.get(change);
      const isAllowed = this.#isAllowed(change.row, () => {
        judgement?.requireWritable();
        judgement?.requireAcceptedFields();
      });
      return isAllowed ? [{ ...change, judgement }] : [];
    });
  }

  /** Runs the check. The row is refused with what it throws. */
  #isAllowed({ row }: PortionRow, check: () => void): boolean {
    try {
      check();
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#tally.refuse({ row, problem: error });
      return false;
    }
  }

  /** The changes whose new references lead to entities to which the caller may refer (rule 115). The rows of the others are refused. */
  async #withReferences(layout: Companion | undefined, changes: readonly RowChange[]): Promise<RowChange[]> {
    const referring = changes.map(({ row, match }) => ({ values: row.companion?.values ?? {}, present: match?.present }));
    const { create, planned } = this.#request;
    const found = layout ? await faultsOfReferences(statementsWithin(this.#trx), create, layout, referring, planned) : [];
    return changes.filter(({ row, judgement }, index) =>
      this.#isAllowed(row, () => {
        requireNoFaults(found[index] ?? []);
        judgement?.requireAcceptedTargets();
      }),
    );
  }

  #count(changes: readonly RowChange[]): PortionRow[] {
    for (const { match } of changes) {
      if (!match) this.#tally.outcome.created += 1;
      else this.#tally.countUpdate(match);
    }
    return [];
  }

  /** Returns the rows that have to be looked at once more, because another transaction has come before. */
  async #writeAll(changes: readonly RowChange[]): Promise<PortionRow[]> {
    const { by } = this.#request;
    const again = by ? await this.#replace(changes, by.update) : [];
    const fresh = changes.flatMap(({ row, match }) => (match ? [] : row));
    for (const { row, problem } of await this.#insert(fresh)) {
      // An entity with these values has appeared.
      if (by && problem.code === 'unique-conflict' && isOf(problem, by.rule) && (await this.#matcher?.entitiesOf([row]))?.get(0)?.key)
        again.push(row);
      else this.#tally.refuse({ row: row.row, problem });
    }
    for (const { row } of again) this.#tally.conflicts.withdraw(row);
    return again;
  }

  /** Returns the rows whose entity has been changed meanwhile. Throws {@link TypeChanged} when that may be the reason instead. */
  async #replace(changes: readonly RowChange[], permit: Permit<'update'>): Promise<PortionRow[]> {
    const { origin, limitBytes, type } = this.#request;
    const lost: PortionRow[] = [];
    const inputs = changes.flatMap(({ row, match }) => {
      if (!match) return [];
      const { text: fields, typeRevision, companion } = row;
      const { key, version } = match;
      return [
        {
          row: { row, match },
          text: replacementText({ permit, origin, key, version, fields, typeRevision, companion, limitBytes: 2 * limitBytes }),
        },
      ];
    });
    const refused = await runTolerantly(this.#trx, this.#layout, inputs, async (some) => {
      const done = await replacePortion(
        this.#trx,
        permit,
        { origin, layout: this.#layout },
        some.map(({ text }) => text),
      );
      for (const [index, { row }] of some.entries()) {
        if (done.has(index)) this.#tally.countUpdate(row.match);
        else lost.push(row.row);
      }
    });
    for (const { row, problem } of refused) this.#tally.refuse({ row: row.row.row, problem });
    if (lost.length > 0 && !(await typeHasRevision(statementsWithin(this.#trx), permit.entity, type?.revision ?? '0')))
      throw new TypeChanged();
    return lost;
  }

  /** Returns the rows that violate a rule after all, because another transaction has come before. */
  async #insert(rows: readonly PortionRow[]): Promise<Refused<PortionRow>[]> {
    const { create, origin, type } = this.#request;
    const by = { origin, typeRevision: type?.revision ?? '0', layout: this.#layout };
    const inputs = rows.map((row) => ({ row, text: bulkRowOf(row.text, row.companion?.values) }));
    return await runTolerantly(this.#trx, this.#layout, inputs, async (some) => {
      const texts = some.map(({ text }) => text);
      await insertPortion(this.#trx, create, by, texts);
      this.#tally.outcome.created += some.length;
    });
  }
}

/** Whether the conflict is one of the rule itself. */
function isOf({ faults }: Problem, rule: ImportRule): boolean {
  if (rule.kind === 'key') return false;
  const { faults: own } = conflictOf(rule.companion, rule.unique);
  return faults.map(({ pointer }) => pointer).join() === own.map(({ pointer }) => pointer).join();
}

/** The fields by which the caller has asked for entities. */
function namedBy({ by }: PortionRequest): string[] {
  if (by?.rule.kind !== 'unique') return [];
  const { companion, unique } = by.rule;
  return companion.columns.flatMap(({ name, field: [top = ''] }) => (unique.columns.includes(name) ? [top] : []));
}
