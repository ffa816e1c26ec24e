/** The rows of a portion of an import, and what has become of them. */
import { knownConflict, type KnownField } from './violations.ts';
import type { Origin } from '../../network/origin.ts';
import type { EntityType } from '../../entity-types/types.ts';
import type { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import type { Judgement } from './judgement.ts';
import type { ConflictSearch, PortionConflicts } from './conflicts.ts';
import type { ImportMode, ImportRule, MatchedEntity } from './import-statements.ts';
import type { Checked } from './rules.ts';

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

/** How rows find entities, and change them. */
export interface ImportMatching {
  rule: ImportRule;
  mode: ImportMode;
  update: Permit<'update'>;
}

export interface PortionRequest {
  type: EntityType | undefined;
  origin: Origin;
  create: Permit<'create'>;
  /** By which rule entities are found that exist; undefined to create all. */
  by: ImportMatching | undefined;
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

/** A row as the entity that it makes, or changes. */
export interface RowChange {
  row: PortionRow;
  /** Undefined for a new entity. */
  match: ({ key: string; version: string; removed: number } & Pick<MatchedEntity, 'present'>) | undefined;
  /** Undefined for a permit without rules, and before a new entity is judged. */
  judgement?: Judgement | undefined;
}

/** Counts what has become of the rows. */
export class PortionTally {
  readonly outcome: PortionOutcome = { created: 0, updated: 0, unchanged: 0, removedFields: 0, refused: [] };
  readonly conflicts: PortionConflicts;

  readonly #knows: KnownField;

  constructor(conflicts: PortionConflicts, knows: KnownField) {
    this.conflicts = conflicts;
    this.#knows = knows;
  }

  refuse(refused: RefusedRow): void {
    this.conflicts.withdraw(refused.row);
    this.outcome.refused.push({ ...refused, problem: knownConflict(refused.problem, this.#knows) });
  }

  countUpdate({ removed }: NonNullable<RowChange['match']>): void {
    this.outcome.updated += 1;
    this.outcome.removedFields += removed;
  }
}
