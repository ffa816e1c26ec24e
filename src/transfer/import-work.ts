/** Checks and writes the portions of one file: rows become entities that the type accepts, with keys in place of references by values. */
import type { Origin } from '../network/origin.ts';
import { randomInt } from 'node:crypto';
import { ConflictSearch } from '../entities/writing/conflicts.ts';
import { writePortion } from '../entities/writing/import-portion.ts';
import type { PortionOutcome, PortionRequest, PortionRow, RefusedRow } from '../entities/writing/import-rows.ts';
import type { ImportMode } from '../entities/writing/import-statements.ts';
import { withPresets } from '../entities/writing/presets.ts';
import { NaturalKeys, type UniqueValues } from '../entities/writing/natural-keys.ts';
import { allowChange, requireNoFaults, validationProblem } from '../entities/writing/rules.ts';
import { whileTypeIsCurrent } from '../entities/writing/type-guard.ts';
import { requireValuesOf, uniqueBy } from '../entities/writing/upsert.ts';
import type { Store } from '../database/port.ts';
import type { EntityType, EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../problems/errors.ts';
import { isInt64 } from '../json/int64.ts';
import { pointerTo } from '../problems/pointer.ts';
import { Pauses } from '../admission/turns.ts';
import type { Permit } from '../rights/permit.ts';
import { keyHeader, versionHeader } from './columns.ts';
import { otherDatabaseFaults } from './other-database.ts';
import type { ImportRow, ReadRow } from './import-row.ts';

export interface ImportPermits {
  create: Permit<'create'>;
  /** With `by` alone. */
  update: Permit<'update'> | undefined;
}

export interface ImportSettings {
  /** The fields of a unique rule with commas between, or `$key`; undefined to create an entity of each row. */
  by: string | undefined;
  mode: ImportMode;
  isDryRun: boolean;
  /** Whether keys and versions of a file that another database has exported count here (`keys=keep`). */
  keepsKeys: boolean;
  /** Rows before this one are skipped. */
  fromRow: number;
}

export interface ImportTarget extends ImportSettings {
  store: Store;
  types: EntityTypes;
  name: string;
  origin: Origin;
  /** The permits as they are now; called before each portion. Throws when the import has to end. */
  permits: () => Promise<ImportPermits>;
  /** Bytes of the fields of an entity. */
  limitBytes: number;
  /** Whether a file with this name of its database comes from another one. */
  isOtherDatabase: (database: string) => boolean;
}

/** The outcome of the first rows, which were written together. */
export interface WorkOutcome extends PortionOutcome {
  /** The rows behind them, which refer to them. */
  rest: readonly ImportRow[];
}

/** Milliseconds of the event loop, measured with rows of 20 to 2,000 characters. */
const loopMs = { row: 0.02, character: 0.000_1 };

/** Checks and writes the portions of one file. */
export class ImportWork {
  readonly #target: ImportTarget;
  readonly #conflicts: ConflictSearch;
  readonly #ignored = new Set<string>();
  /** Stands for the keys that a dry run does not give. It is above all keys, and no file can know it. */
  readonly #plannedKey: string | undefined;

  constructor(target: ImportTarget) {
    this.#target = target;
    this.#plannedKey = target.isDryRun ? String(2n ** 62n + BigInt(randomInt(2 ** 47))) : undefined;
    this.#conflicts = new ConflictSearch({ namesRows: true, plannedKey: this.#plannedKey });
  }

  /** The names of columns of the rows that count for nothing. */
  get ignored(): readonly string[] {
    return [...this.#ignored];
  }

  /** Throws 413 `too-many-rows` if the file has more values than are compared. */
  requireRoom(): void {
    const limit = this.#conflicts.exceeded;
    if (limit !== undefined) throw new Problem('too-many-rows', { values: { limit } });
  }

  /** Counts the rows for the sender: to read, check and answer them takes the event loop about so long. A dry run takes as long as a write. */
  #countRows(rows: readonly ImportRow[]): void {
    const characters = rows.reduce((sum, row) => sum + (row.problem ? 0 : row.text.length), 0);
    this.#target.origin.cost?.add('loop', rows.length * loopMs.row + characters * loopMs.character);
  }

  /** Writes the rows, up to one that refers by values to an entity of an earlier row: its key is known when that row is written. */
  async write(rows: readonly ImportRow[]): Promise<WorkOutcome> {
    const { store, types, name, by, isDryRun, limitBytes, origin, keepsKeys } = this.#target;
    const isOther = (row: ReadRow) => !keepsKeys && row.database !== undefined && this.#target.isOtherDatabase(row.database);
    const permits = await this.#target.permits();
    this.#countRows(rows);
    return await whileTypeIsCurrent(types, name, async (type) => {
      const rule = ruleOf(this.#target, permits, type);
      const refused: RefusedRow[] = [];
      const accepted: PortionRow[] = [];
      const pauses = new Pauses();
      const keys = new NaturalKeys(store, types, permits.create, (values) => this.#keyOfPlanned(values));
      await keys.findFor(
        rows.flatMap((row) => (row.problem ? [] : { type, fields: row.fields })),
        name,
      );
      let end = rows.length;
      for (const [index, row] of rows.entries()) {
        await pauses.whenLong();
        if (row.problem) {
          refused.push(row);
          continue;
        }
        if (accepted.length > 0 && mayReferTo(accepted, rule, await keys.keysCalled(name, type, row.fields))) {
          end = index;
          break;
        }
        if (row.key !== undefined && by !== keyHeader) this.#ignored.add(keyHeader);
        if (row.version !== undefined && by === undefined) this.#ignored.add(versionHeader);
        const checked = await checkRow(row, { create: permits.create, type, rule, limitBytes, keys, isOther: isOther(row) });
        if (checked instanceof Problem) refused.push({ row: row.row, problem: checked });
        else accepted.push(checked);
      }
      const planned = new Set(this.#plannedKey === undefined ? [] : [this.#plannedKey]);
      const request = { type, origin, create: permits.create, by: rule, isDryRun, limitBytes, conflicts: this.#conflicts, planned };
      const written = await writePortion(store, request, accepted);
      if (!written) return undefined;
      const all = [...refused, ...written.refused].toSorted((one, other) => one.row - other.row);
      return { ...written, refused: all, rest: rows.slice(end) };
    });
  }

  /** The key of an entity that an earlier row of a dry run would create. */
  async #keyOfPlanned({ to, companion, unique, values }: UniqueValues): Promise<string | undefined> {
    const { store, name } = this.#target;
    if (this.#plannedKey === undefined || to !== name) return undefined;
    return (await this.#conflicts.rowWith(store, companion, unique, values)) === undefined ? undefined : this.#plannedKey;
  }
}

/** Whether one of the references may lead to an entity that the rows create, or give other values. Undefined stands for one to no entity. */
function mayReferTo(rows: readonly PortionRow[], by: PortionRequest['by'], keys: readonly (string | undefined)[]): boolean {
  return keys.some((key) => {
    if (key === undefined) return true;
    if (by?.rule.kind === 'key') return rows.some((row) => row.key === key);
    // A row that is found by the only rule leaves its values as they are.
    return by !== undefined && by.rule.companion.uniques.length > 1;
  });
}

function ruleOf({ by, mode }: ImportSettings, { update }: ImportPermits, type: EntityType | undefined): PortionRequest['by'] {
  if (by === undefined || !update) return undefined;
  const rule = by === keyHeader ? { kind: 'key' as const } : { kind: 'unique' as const, ...uniqueBy(type, by) };
  return { rule, mode, update };
}

interface RowChecks {
  create: Permit<'create'>;
  type: EntityType | undefined;
  rule: PortionRequest['by'];
  limitBytes: number;
  keys: NaturalKeys;
  /** Whether the row comes from another database, whose keys do not count here. */
  isOther: boolean;
}

/** The row for the statement, with keys in place of references by values; or why the type refuses it. */
async function checkRow(read: ReadRow, { create, type, rule: by, limitBytes, keys, isOther }: RowChecks): Promise<PortionRow | Problem> {
  const { row, key, version, isExported, emptied } = read;
  const isByKey = by?.rule.kind === 'key';
  // An entity of another database has another version than the one with the same values here.
  const isCondition = by !== undefined && (isByKey || !isExported || type?.requiresIfMatch === true);
  try {
    const foreign = isOther ? await otherDatabaseFaults(read, { type, isByKey, isCondition, keys }) : [];
    requireNoFaults(foreign);
    const sent = await keys.replaced(type, read);
    const { fields, text } = by === undefined ? withPresets(create, sent) : sent;
    const checked = allowChange({
      rule: (by?.update ?? create).change,
      type,
      next: { text, fields, limitBytes, isPart: by !== undefined && by.mode !== 'replace' },
    });
    if (by?.rule.kind === 'unique') requireValuesOf(by.rule.companion, by.rule.unique, checked.companion?.values ?? {}, fields);
    return {
      row,
      fields,
      text,
      ...checked,
      key: isByKey ? requireKey(key) : undefined,
      version: isCondition ? requireVersion(version) : undefined,
      emptied: by?.mode === 'update' ? emptied?.() : undefined,
    };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function requireKey(key: string | undefined): string | undefined {
  if (key === undefined || isInt64(key)) return key;
  throw validationProblem([{ pointer: pointerTo([keyHeader]), code: 'invalid-value' }]);
}

function requireVersion(version: string | undefined): string | undefined {
  if (version === undefined || /^[1-9]\d{0,17}$/.test(version)) return version;
  throw validationProblem([{ pointer: pointerTo([versionHeader]), code: 'invalid-value' }]);
}
