/** Finds the entities of the rows of an import, and decides what each row changes. */
import type { Transaction } from 'kysely';
import { Pauses } from '../../admission/turns.ts';
import { statementsWithin } from '../../database/statements-within.ts';
import type { Database } from '../../database/tables.ts';
import { parseJson } from '../../json/parse-json.ts';
import { Problem } from '../../problems/errors.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { freshFields } from './fresh-fields.ts';
import { rowOf } from './grouped-writes.ts';
import type { ImportMatching, PortionRequest, PortionRow, PortionTally, RowChange } from './import-rows.ts';
import { matchEntities, type ImportMode, type ImportRule, type MatchedEntity } from './import-statements.ts';
import { judgeMerges, type JudgedMerge, type WantedMerge } from './judge.ts';
import type { Judgement } from './judgement.ts';
import { withPresets } from './presets.ts';
import { referencePaths } from './references.ts';
import { refusalOf } from './refusal.ts';
import { allowChange, guardOfVersion, requirePrecondition, type Guard, type NextFields } from './rules.ts';
import { whileTypeLasts } from './type-guard.ts';
import { conflictOf } from './upsert.ts';
import { conflictProblem, duplicatesAt } from './violations.ts';

export class RowMatcher {
  readonly #trx: Transaction<Database>;
  readonly #request: Pick<PortionRequest, 'type' | 'limitBytes' | 'create'>;
  readonly #by: ImportMatching;
  readonly #tally: PortionTally;

  constructor(
    trx: Transaction<Database>,
    request: Pick<PortionRequest, 'type' | 'limitBytes' | 'create'>,
    by: ImportMatching,
    tally: PortionTally,
  ) {
    this.#trx = trx;
    this.#request = request;
    this.#by = by;
    this.#tally = tally;
  }

  /** The change that each row would make, and the rows that come later because of their size. */
  async changesOf(rows: readonly PortionRow[]): Promise<{ changes: RowChange[]; again: PortionRow[] }> {
    const matches = await this.entitiesOf(rows);
    const judged = await this.#judge(rows, matches);
    const [changes, again]: [RowChange[], PortionRow[]] = [[], []];
    const pauses = new Pauses();
    for (const [index, row] of rows.entries()) {
      await pauses.whenLong();
      const match = matches.get(index);
      if (!match) throw new Error('there is an answer for each row');
      const change = judged.get(index);
      const isLost = this.#by.update.change !== undefined && isCovered(match) && change?.version !== match.version;
      if (match.isDeferred || isLost) again.push(row);
      else changes.push(...(await this.#changeOf(row, match, change?.judgement)));
    }
    return { changes, again };
  }

  /** The entity of each row, by its place. */
  async entitiesOf(rows: readonly PortionRow[]): Promise<Map<number, MatchedEntity>> {
    const { rule, mode, update } = this.#by;
    const input = rows.map(({ text, emptied, key = null, companion: of }) =>
      rowOf({ key, emptied: emptied === undefined ? null : parseJson(emptied), ...of?.values }, 'fields', text),
    );
    const paths = JSON.stringify(referencePaths(update, this.#request.type?.companion));
    const query = matchEntities(rule, { permit: update, mode, rows: `[${input.join()}]`, paths });
    const found = await whileTypeLasts(() => query.execute(this.#trx));
    return new Map(found.rows.map((match) => [Number(match.n) - 1, match]));
  }

  /** The judgements of the rows whose entities are covered, by their places; none for a permit without rules. */
  async #judge(rows: readonly PortionRow[], matches: ReadonlyMap<number, MatchedEntity>): Promise<Map<number, JudgedMerge>> {
    const { mode, update } = this.#by;
    const judged = new Map<number, JudgedMerge>();
    if (!update.change) return judged;
    const covered = [...matches].flatMap(([index, match]) => {
      const row = rows[index];
      return row && isCovered(match) ? { index, wanted: wantedMerge(mode, row, match) } : [];
    });
    const look = { light: false, paths: [] };
    const store = statementsWithin(this.#trx);
    const wanted = covered.map((each) => each.wanted);
    const found = await judgeMerges(store, update, update.change, wanted, look);
    for (const [place, { index }] of covered.entries()) {
      const one = found[place];
      if (one !== undefined && one !== 'forbidden') judged.set(index, one);
    }
    return judged;
  }

  /** None if the row is refused, or changes nothing. */
  async #changeOf(row: PortionRow, match: MatchedEntity, judgement: Judgement | undefined): Promise<RowChange[]> {
    const { rule, mode, update } = this.#by;
    const { hash, key, version } = match;
    const first = hash === null ? undefined : this.#tally.conflicts.firstRow(hash);
    if (first !== undefined) this.#tally.refuse({ row: row.row, problem: duplicateRow(rule, first), duplicateOf: first });
    else if (key === null) return this.#accept(row, hash, this.#newFields(row, mode), undefined);
    else if (version === null)
      this.#tally.refuse({
        row: row.row,
        problem:
          rule.kind === 'unique' ? conflictOf(rule.companion, rule.unique) : await refusalOf(statementsWithin(this.#trx), update, key),
      });
    else if (match.isUnchanged && !judgement?.sendsHidden) {
      if (!this.#isAllowed(row, judgement)) return [];
      this.#tally.outcome.unchanged += 1;
      this.#accept(row, hash, row, undefined);
    } else {
      const { removed, present } = match;
      const wanted = this.#mergedInto(row, match, version, judgement);
      return this.#accept(row, hash, wanted, { key, version, removed: judgement?.sendsHidden ? 0 : (removed ?? 0), present }).map(
        (change) => Object.assign(change, { judgement }),
      );
    }
    return [];
  }

  /** The change with these fields; none if they were refused. */
  #accept({ row }: PortionRow, hash: string | null, wanted: PortionRow | undefined, match: RowChange['match']): RowChange[] {
    if (!wanted) return [];
    if (hash !== null) this.#tally.conflicts.accept(row, [hash]);
    return [{ row: wanted, match }];
  }

  /** The row as a new entity; undefined, with the row refused, if the type does not accept it. */
  #newFields(row: PortionRow, mode: ImportMode): PortionRow | undefined {
    const sent = mode === 'merge' ? freshFields(row) : row;
    const { fields, text } = withPresets(this.#request.create, sent);
    return mode === 'replace' && text === row.text ? row : this.#allowed(row, { text, fields });
  }

  /** The row with the merged fields; undefined, with the row refused, if the entity may not have them. */
  #mergedInto(row: PortionRow, { merged }: MatchedEntity, version: string, judgement: Judgement | undefined): PortionRow | undefined {
    const { limitBytes } = this.#request;
    const next = merged === null ? undefined : { text: merged, fields: parseJson(merged), limitBytes, isStoredText: true };
    return this.#allowed(row, next, { judgement, guard: guardOfVersion(row.version), state: { version } });
  }

  /** Whether the rules let the row be sent, although it changes nothing. Otherwise it is refused. */
  #isAllowed(row: PortionRow, judgement: Judgement | undefined): boolean {
    try {
      judgement?.requireAllowed();
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#tally.refuse({ row: row.row, problem: error });
      return false;
    }
  }

  /** The row with other fields, or the same; undefined, with the row refused, if the entity may not have them. */
  #allowed(
    row: PortionRow,
    next: NextFields | undefined,
    present?: { judgement: Judgement | undefined; guard: Guard; state: { version: string } },
  ): PortionRow | undefined {
    const { type } = this.#request;
    try {
      if (next)
        return {
          ...row,
          text: next.text,
          fields: next.fields,
          ...allowChange({ rule: this.#request.create.change, type, next, ...present }),
        };
      if (present) requirePrecondition(type, present.guard, present.state.version);
      return row;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#tally.refuse({ row: row.row, problem: error });
      return undefined;
    }
  }
}

type CoveredEntity = MatchedEntity & { key: string; version: string };

/** Whether the row has an entity that the permit covers, and its change is known. */
function isCovered(match: MatchedEntity): match is CoveredEntity {
  return match.key !== null && match.version !== null && !match.isDeferred;
}

/** The change of the entity that the row makes, as the rules judge it. */
function wantedMerge(mode: ImportMode, row: PortionRow, { key, merged, isUnchanged }: CoveredEntity): WantedMerge {
  const named = Object.keys({ ...(row.fields as object), ...(row.emptied === undefined ? {} : (parseJson(row.emptied) as object)) });
  if (merged === null || isUnchanged) return { key, members: named, patch: '{}' };
  return mode === 'replace' ? { key, merged, staying: [], named } : { key, merged, members: named };
}

/** The problem of a row whose entity an earlier row of the file has. */
function duplicateRow(rule: ImportRule, first: number): Problem {
  const faults =
    rule.kind === 'unique'
      ? duplicatesAt(rule.companion, rule.unique.columns, first)
      : [{ pointer: pointerTo(['$key']), code: 'duplicate-value' as const, values: { row: String(first) } }];
  return conflictProblem(faults);
}
