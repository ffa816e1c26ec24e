/** What a violated rule of a type means for the caller: the places of the fields, and nothing of PostgreSQL or of another entity (rule 75). */
import { DatabaseError } from 'pg';
import type { Companion, CompanionUnique, CompanionValues } from '../companion/layout.ts';
import { lacksRelation, retryOnConflict } from '../../database/failure.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { pathOf, pointerTo } from '../../problems/pointer.ts';
import type { ChangeRule } from '../../rights/change-rule.ts';
import type { Permit } from '../../rights/permit.ts';
import { validationProblem } from './rules.ts';
import { whileTypeLasts } from './type-guard.ts';

/** The row that a statement writes into a companion table. */
export interface CompanionWrite {
  layout: Companion;
  /** Without the values that the row has already, and that stay. */
  values: CompanionValues;
  permit: Permit<'create' | 'update'>;
  /** The key of an entity that is changed. */
  key?: string | undefined;
}

/** 409 `unique-conflict`. It names no other entity; `namingConflict` does, for a caller who may read it. */
export class UniqueConflict extends Problem {
  readonly write: CompanionWrite;
  readonly unique: CompanionUnique;

  constructor(write: CompanionWrite, unique: CompanionUnique, faults?: readonly Fault[]) {
    const known = faults ?? knownDuplicates(duplicatesAt(write.layout, unique.columns), knownBy(write.permit.change));
    super('unique-conflict', { faults: known, headers: conflictHeaders });
    this.write = write;
    this.unique = unique;
  }

  override withFaults(faults: readonly Fault[]): UniqueConflict {
    return new UniqueConflict(this.write, this.unique, faults);
  }
}

// Version 0.1.0 of the contract has the header in each 409 of a create.
const conflictHeaders = { 'Retry-After': '1' };

/** 409 `unique-conflict` that names no entity. */
export const conflictProblem = (faults: readonly Fault[]): Problem => new Problem('unique-conflict', { faults, headers: conflictHeaders });

/**
 * Runs `write`, a statement that writes the row `written` too; undefined for a statement without one. Returns undefined when the table has
 * changed, so the type has. Throws 409 `unique-conflict` for a value that another entity has, and 422 `validation-failed` for a reference to no entity.
 */
export async function underRules<R>(written: CompanionWrite | undefined, write: () => Promise<R | undefined>): Promise<R | undefined> {
  try {
    return await whileTableExists(written?.layout, write);
  } catch (error) {
    throw (written && violationOf(written.layout, error, written)) ?? error;
  }
}

/** Runs `write` likewise, once, in a transaction that the error ends. Throws {@link TypeChanged} instead of returning undefined. */
export async function underRulesOnce<R>(written: CompanionWrite | undefined, write: () => Promise<R>): Promise<R> {
  try {
    return await whileTypeLasts(write);
  } catch (error) {
    throw (written && violationOf(written.layout, error, written)) ?? error;
  }
}

/**
 * Runs `write` likewise. Returns undefined when the table or a column of it does not exist any more, so the type has changed. Statements that wait for each
 * other's companion rows in a circle run again.
 */
export async function whileTableExists<R>(
  layout: Companion | null | undefined,
  write: () => Promise<R | undefined>,
): Promise<R | undefined> {
  if (!layout) return await write();
  try {
    return await retryOnConflict(write);
  } catch (error) {
    if (lacksRelation(error)) return undefined;
    throw error;
  }
}

/** Whether a row of a companion table still refers to the deleted one. */
export function isStillReferenced(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23503' && error.schema === 'entity_data';
}

/** The problem of a violated rule of the companion table; undefined for any other error. `written` is the row, if it is the only one of the statement. */
export function violationOf(layout: Companion, error: unknown, written?: CompanionWrite): Problem | undefined {
  if (!(error instanceof DatabaseError) || error.schema !== 'entity_data') return undefined;
  if (error.code === '23505') {
    const unique = layout.uniques.find(({ name }) => name === error.constraint);
    if (written && unique) return new UniqueConflict(written, unique);
    return conflictProblem(duplicatesAt(layout, unique?.columns ?? []));
  }
  if (error.code !== '23503') return undefined;
  const reference = layout.references.find(({ name }) => name === error.constraint);
  return validationProblem(reference ? referenceFaults(layout, reference.column) : []);
}

/** The fault of a reference, in this column, to no entity. */
export function referenceFaults(layout: Pick<Companion, 'columns'>, column: string): Fault[] {
  return fieldsOf(layout, [column]).map((field) => ({ pointer: pointerTo(field), code: 'reference-not-found' }));
}

/**
 * The faults of the fields whose values, in these columns, another entity has, or the row `firstRow` of the same file. A rule over several fields names them all in each
 * fault.
 */
export function duplicatesAt(layout: Pick<Companion, 'columns'>, columns: readonly string[], firstRow?: number): Fault[] {
  const fields = fieldsOf(layout, columns);
  const values = {
    ...(firstRow !== undefined && { row: String(firstRow) }),
    ...(fields.length > 1 && { fields: fields.map((field) => field.join('.')).join(', ') }),
  };
  const hasValues = Object.keys(values).length > 0;
  return fields.map((field): Fault => {
    const fault = { pointer: pointerTo(field), code: 'duplicate-value' as const };
    return hasValues ? Object.assign(fault, { values }) : fault;
  });
}

const fieldsOf = ({ columns }: Pick<Companion, 'columns'>, names: readonly string[]) =>
  columns.filter(({ name }) => names.includes(name)).map(({ field }) => field);

/** Whether the caller may know a field by its name; undefined for a caller who may know all. */
export type KnownField = ((name: string) => boolean) | undefined;

/** The fields that a grant shows or lets be written, and those that the caller has named. */
export const knownBy = (rule: ChangeRule | undefined, named: readonly string[] = []): KnownField =>
  rule && ((name) => rule.isEverKnown(name) || named.includes(name));

/** The faults of one unique rule at the fields that the caller may know. If there are none, one fault of the entity as a whole is left. */
export function knownDuplicates(faults: readonly Fault[], knows: KnownField): readonly Fault[] {
  const known = knows ? faults.filter(({ pointer = '' }) => knows(pathOf(pointer)[0] ?? '')) : faults;
  if (known.length === faults.length) return faults;
  // The row of the file stays, without the list of all fields of the rule.
  const [row] = faults.flatMap((fault) => (fault.code === 'duplicate-value' ? (fault.values?.row ?? []) : []));
  const values = row === undefined ? {} : { values: { row } };
  const faultAt = (pointer: string): Fault => Object.assign({ pointer, code: 'duplicate-value' as const }, values);
  return known.length > 0 ? known.map(({ pointer = '' }) => faultAt(pointer)) : [faultAt('')];
}

/** The problem with the faults that the caller may know; a problem of another kind as it is. */
export const knownConflict = (problem: Problem, knows: KnownField): Problem =>
  problem.code === 'unique-conflict' ? problem.withFaults(knownDuplicates(problem.faults, knows)) : problem;
