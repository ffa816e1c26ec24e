/** Writes a portion of the rows of an import in one transaction. A row that violates a rule is left out, and the others are written. */
import type { Transaction } from 'kysely';
import type { Origin } from '../../authn/caller.ts';
import type { Companion } from '../companion/layout.ts';
import type { Store } from '../../database/port.ts';
import { statementsWithin } from '../../database/statements-within.ts';
import type { Database } from '../../database/tables.ts';
import type { EntityType } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import { Pauses } from '../../admission/turns.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { parseJson } from '../../json/parse-json.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/row-predicate.ts';
import { changeValues } from './changed.ts';
import { freshFields } from './fresh-fields.ts';
import { rowOf } from './grouped-writes.ts';
import { faultsOfReferences, referencePaths } from './references.ts';
import { refusalOf } from './refusal.ts';
import { busyProblem } from './rounds.ts';
import { allow, requirePrecondition, validationProblem, type Checked, type Guard, type NextFields } from './rules.ts';
import { typeHasRevision } from './type-guard.ts';
import { conflictOf } from './upsert.ts';
import { duplicatesAt } from './violations.ts';
import { writeStatementsOf } from './write-statements.ts';
import { bulkRowOf } from './bulk-statements.ts';
import type { ConflictSearch, PortionConflicts } from './conflicts.ts';
import { matchEntities, type ImportMode, type ImportRule, type MatchedEntity } from './import-statements.ts';
import { runTolerantly, TypeChanged, whileTypeLasts, type Refused } from './tolerant-statements.ts';

/** How often rows are looked at again after others have changed their entities meanwhile. */
const rounds = 20;

/** A row whose fields the type has accepted, unless they are to be merged. */
export interface PortionRow extends Checked {
  row: number;
  fields: unknown;
  /** JSON text. */
  text: string;
  /** The key of the entity; undefined for a new one, or where a rule finds it. */
  key: string | undefined;
  /** The only version of the entity that the row changes; undefined for any. */
  version: string | undefined;
  /** JSON text of an object with null at each field that an update removes; undefined for none. */
  emptied: string | undefined;
}

export interface PortionRequest {
  type: EntityType | undefined;
  origin: Origin;
  create: Permit<'create'>;
  /** By which rule entities are found that exist; undefined to create all. */
  by: { rule: ImportRule; mode: ImportMode; update: Permit<'update'> } | undefined;
  /** Whether nothing is written. */
  isDryRun: boolean;
  /** Bytes of the fields of an entity. */
  limitBytes: number;
  /** Of the whole file. */
  conflicts: ConflictSearch;
  /** The keys that references of a dry run have to entities that its earlier rows would create. */
  planned: ReadonlySet<string>;
}

/** Why a row was not written. */
export interface RefusedRow {
  row: number;
  problem: Problem;
  /** The row of the same file that has the same value; undefined for any other reason. */
  duplicateOf?: number | undefined;
}

export interface PortionOutcome {
  created: number;
  updated: number;
  unchanged: number;
  /** The members outside of arrays that updates have removed. */
  removedFields: number;
  refused: RefusedRow[];
}

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

/** A row as the entity that it makes, or changes. */
interface Change {
  row: PortionRow;
  /** Undefined for a new entity. */
  match: ({ key: string; version: string; removed: number } & Pick<MatchedEntity, 'present'>) | undefined;
}

class Portion {
  readonly #trx: Transaction<Database>;
  readonly #request: PortionRequest;
  readonly #layout: Companion | undefined;
  readonly #conflicts: PortionConflicts;
  readonly #outcome: PortionOutcome = { created: 0, updated: 0, unchanged: 0, removedFields: 0, refused: [] };

  constructor(trx: Transaction<Database>, request: PortionRequest, conflicts: PortionConflicts) {
    this.#trx = trx;
    this.#request = request;
    this.#layout = request.type?.companion ?? undefined;
    this.#conflicts = conflicts;
  }

  async write(rows: readonly PortionRow[]): Promise<PortionOutcome> {
    const { by } = this.#request;
    let left = rows;
    for (let round = 1; left.length > 0; round += 1) {
      const { changes, again } = by
        ? await this.#matched(left, by)
        : { changes: left.map((row) => ({ row, match: undefined })), again: [] };
      const accepted = await this.#accepted(changes);
      const next = [...again, ...(this.#request.isDryRun ? this.#count(accepted) : await this.#writeAll(accepted))];
      // Each round decides about its first row, unless others change the entity or take the value before it.
      if (next.length === left.length && round >= rounds) {
        for (const { row } of next) this.#refuse({ row, problem: busyProblem() });
        break;
      }
      left = next.toSorted((one, other) => one.row - other.row);
    }
    return this.#outcome;
  }

  #refuse(refused: RefusedRow): void {
    this.#conflicts.withdraw(refused.row);
    this.#outcome.refused.push(refused);
  }

  /** The change that each row would make, and the rows that come later because of their size. */
  async #matched(rows: readonly PortionRow[], by: NonNullable<PortionRequest['by']>): Promise<{ changes: Change[]; again: PortionRow[] }> {
    const matches = await this.#match(rows, by);
    const [changes, again]: [Change[], PortionRow[]] = [[], []];
    const pauses = new Pauses();
    for (const [index, row] of rows.entries()) {
      await pauses.whenLong();
      const match = matches.get(index);
      if (!match) throw new Error('there is an answer for each row');
      if (match.isDeferred) again.push(row);
      else changes.push(...(await this.#changeOf(row, match, by)));
    }
    return { changes, again };
  }

  async #match(
    rows: readonly PortionRow[],
    { rule, mode, update }: NonNullable<PortionRequest['by']>,
  ): Promise<Map<number, MatchedEntity>> {
    const input = rows.map(({ text, emptied, key = null, companion: of }) =>
      rowOf({ key, emptied: emptied === undefined ? null : parseJson(emptied), ...of?.values }, 'fields', text),
    );
    const paths = JSON.stringify(referencePaths(update, this.#layout));
    const query = matchEntities(rule, { permit: permitValues(update), mode, rows: `[${input.join()}]`, paths });
    const found = await whileTypeLasts(() => query.execute(this.#trx));
    return new Map(found.rows.map((match) => [Number(match.n) - 1, match]));
  }

  /** None if the row is refused, or changes nothing. */
  async #changeOf(row: PortionRow, match: MatchedEntity, { rule, mode, update }: NonNullable<PortionRequest['by']>): Promise<Change[]> {
    const { hash, key, version } = match;
    const first = hash === null ? undefined : this.#conflicts.firstRow(hash);
    if (first !== undefined) this.#refuse({ row: row.row, problem: duplicateRow(rule, first), duplicateOf: first });
    else if (key === null) return this.#accept(row, hash, this.#newFields(row, mode), undefined);
    else if (version === null)
      this.#refuse({
        row: row.row,
        problem:
          rule.kind === 'unique' ? conflictOf(rule.companion, rule.unique) : await refusalOf(statementsWithin(this.#trx), update, key),
      });
    else if (match.isUnchanged) {
      this.#outcome.unchanged += 1;
      this.#accept(row, hash, row, undefined);
    } else {
      const { removed, present } = match;
      return this.#accept(row, hash, this.#mergedInto(row, match, version), { key, version, removed: removed ?? 0, present });
    }
    return [];
  }

  /** The change with these fields; none if they were refused. */
  #accept({ row }: PortionRow, hash: string | null, wanted: PortionRow | undefined, match: Change['match']): Change[] {
    if (!wanted) return [];
    if (hash !== null) this.#conflicts.accept(row, [hash]);
    return [{ row: wanted, match }];
  }

  /** The row as a new entity; undefined, with the row refused, if the type does not accept it. */
  #newFields(row: PortionRow, mode: ImportMode): PortionRow | undefined {
    if (mode === 'replace') return row;
    const { fields, text } = mode === 'merge' ? freshFields(row) : row;
    return this.#allowed(row, { text, fields });
  }

  /** The row with the merged fields; undefined, with the row refused, if the entity may not have them. */
  #mergedInto(row: PortionRow, { merged }: MatchedEntity, version: string): PortionRow | undefined {
    const guard = { versions: row.version === undefined ? null : [row.version], isGuarded: row.version !== undefined };
    const next = merged === null ? undefined : { text: merged, fields: parseJson(merged), limitBytes: this.#request.limitBytes };
    return this.#allowed(row, next, { guard, state: { version } });
  }

  /** The row with other fields, or the same; undefined, with the row refused, if the entity may not have them. */
  #allowed(row: PortionRow, next: NextFields | undefined, present?: { guard: Guard; state: { version: string } }): PortionRow | undefined {
    const { type } = this.#request;
    try {
      if (next) return { ...row, text: next.text, fields: next.fields, ...allow({ type, next, ...present }) };
      if (present) requirePrecondition(type, present.guard, present.state.version);
      return row;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#refuse({ row: row.row, problem: error });
      return undefined;
    }
  }

  /** The changes that no rule of the type forbids. The rows of the others are refused. */
  async #accepted(wanted: readonly Change[]): Promise<Change[]> {
    const layout = this.#layout;
    if (!layout) return [...wanted];
    const changes = await this.#withReferences(layout, wanted);
    const { by } = this.#request;
    const applied = by?.rule.kind === 'unique' ? by.rule.unique : undefined;
    const candidates = changes.map(({ row, match }) => ({ row: row.row, key: match?.key ?? null, values: row.companion?.values ?? {} }));
    const found = await whileTypeLasts(() => this.#conflicts.check(this.#trx, layout, candidates, applied));
    return changes.filter(({ row }, index) => {
      const conflict = found[index];
      if (conflict) this.#refuse({ row: row.row, ...conflict });
      return !conflict;
    });
  }

  /** The changes whose new references lead to entities to which the caller may refer (rule 115). The rows of the others are refused. */
  async #withReferences(layout: Companion, changes: readonly Change[]): Promise<Change[]> {
    const referring = changes.map(({ row, match }) => ({ values: row.companion?.values ?? {}, present: match?.present }));
    const found = await faultsOfReferences(statementsWithin(this.#trx), this.#request.create, layout, referring, this.#request.planned);
    return changes.filter(({ row }, index) => {
      const faults = found[index] ?? [];
      if (faults.length > 0) this.#refuse({ row: row.row, problem: validationProblem(faults) });
      return faults.length === 0;
    });
  }

  #count(changes: readonly Change[]): PortionRow[] {
    for (const { match } of changes) {
      if (!match) this.#outcome.created += 1;
      else this.#countUpdate(match);
    }
    return [];
  }

  #countUpdate({ removed }: NonNullable<Change['match']>): void {
    this.#outcome.updated += 1;
    this.#outcome.removedFields += removed;
  }

  /** Returns the rows that have to be looked at once more, because another transaction has come before. */
  async #writeAll(changes: readonly Change[]): Promise<PortionRow[]> {
    const { by } = this.#request;
    const again = by ? await this.#replace(changes, by.update) : [];
    const fresh = changes.flatMap(({ row, match }) => (match ? [] : row));
    for (const { row, problem } of await this.#insert(fresh)) {
      // An entity with these values has appeared.
      if (by && problem.code === 'unique-conflict' && isOf(problem, by.rule) && (await this.#match([row], by)).get(0)?.key) again.push(row);
      else this.#refuse({ row: row.row, problem });
    }
    for (const { row } of again) this.#conflicts.withdraw(row);
    return again;
  }

  /** Returns the rows whose entity has been changed meanwhile. Throws {@link TypeChanged} when that may be the reason instead. */
  async #replace(changes: readonly Change[], permit: Permit<'update'>): Promise<PortionRow[]> {
    const { origin, limitBytes } = this.#request;
    const { replaceMany } = writeStatementsOf(this.#layout);
    const lost: PortionRow[] = [];
    const inputs = changes.flatMap(({ row, match }) => {
      if (!match) return [];
      const { key, version } = match;
      const change = { ...changeValues(permit, origin, row.typeRevision), ...permitValues(permit), key, version, limit: 2 * limitBytes };
      return [{ row: { row, match }, text: rowOf({ ...change, ...row.companion?.values }, 'fields', row.text) }];
    });
    const refused = await runTolerantly(this.#trx, this.#layout, inputs, async (some) => {
      const { rows } = await this.#trx.executeQuery(replaceMany.query({ rows: `[${some.map(({ text }) => text).join()}]` }));
      const done = new Set(rows.map(({ n }) => Number(n) - 1));
      for (const [index, { row }] of some.entries()) {
        if (done.has(index)) this.#countUpdate(row.match);
        else lost.push(row.row);
      }
    });
    for (const { row, problem } of refused) this.#refuse({ row: row.row.row, problem });
    const revision = this.#request.type?.revision ?? '0';
    if (lost.length > 0 && !(await typeHasRevision(statementsWithin(this.#trx), permit.entity, revision))) throw new TypeChanged();
    return lost;
  }

  /** Returns the rows that violate a rule after all, because another transaction has come before. */
  async #insert(rows: readonly PortionRow[]): Promise<Refused<PortionRow>[]> {
    const { create, origin } = this.#request;
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

/** The problem of a row whose entity an earlier row of the file has. */
function duplicateRow(rule: ImportRule, first: number): Problem {
  const faults =
    rule.kind === 'unique'
      ? duplicatesAt(rule.companion, rule.unique.columns, first)
      : [{ pointer: pointerTo(['$key']), code: 'duplicate-value' as const, values: { row: String(first) } }];
  return new Problem('unique-conflict', { faults, headers: { 'Retry-After': '1' } });
}

/** Whether the conflict is one of the rule itself. */
function isOf({ faults }: Problem, rule: ImportRule): boolean {
  if (rule.kind === 'key') return false;
  const { faults: own } = conflictOf(rule.companion, rule.unique);
  return faults.map(({ pointer }) => pointer).join() === own.map(({ pointer }) => pointer).join();
}
