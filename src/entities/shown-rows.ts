/**
 * The entities of lists, as their caller sees them: a row whose column `fields` has the shown fields alone. So every filter, sort and sum over it takes a hidden
 * field for a missing one, and no statement has to know which fields are hidden (decision 321).
 */
import { sql, type RawBuilder } from 'kysely';
import type { Companion } from './companion/layout.ts';
import { isOfEnvelope, type Field, type FieldTypes } from '../filter/fields.ts';
import { rowsOfPermit, type Coverage, type CoveredRows } from '../rights/coverage.ts';
import { otherFields } from '../rights/field-set.ts';
import { fieldsOfPermit, wholeView, type EntityRights, type FieldView } from '../rights/field-view.ts';
import { trashedEntities } from './trash.ts';

export type ListPermit = CoveredRows & EntityRights;

/** A table with the name `entity`, and the permit whose condition statements have over it. */
export interface ShownRows {
  table: RawBuilder<unknown>;
  permit: ListPermit;
}

/** With the size of all fields, which limits the fields of a page. */
const envelope = sql`name, key, version, created_at, created_by, updated_at, updated_by, bytes`;

/** SQL: the columns of a row that callers see, without `whole`. */
export const shownColumns = sql`entity.name, entity.key, version, created_at, created_by, updated_at, updated_by, bytes, fields`;

/** The rows of `entity` or of the trash. The column `whole` has all fields, for the condition of the permit. */
export function shownRows(permit: ListPermit, isTrash = false): ShownRows {
  const table = isTrash ? trashedEntities : sql`entity`;
  if (permit.view.kind === 'whole') return { table, permit };
  const columns = isTrash ? sql`${envelope}, deleted_at, deleted_by, expires_at` : envelope;
  return {
    table: sql`(select ${columns}, fields as whole, ${fieldsOfPermit(permit.view)} as fields from ${table}) as entity`,
    permit: { ...permit, coverage: overWhole(permit.coverage), view: wholeView },
  };
}

/** The entity with the key, if the permit covers it, for each row of `keys`. A loop over the primary key, whatever the planner expects. */
export function entityOf(permit: ListPermit, key: RawBuilder<unknown>): RawBuilder<unknown> {
  const rows = shownRows(permit);
  return sql`lateral (select entity.* from ${rows.table} where ${rowsOfPermit(rows.permit)} and entity.key = ${key} offset 0) as entity`;
}

function overWhole(coverage: Coverage): Coverage {
  if (coverage.kind === 'all') return coverage;
  return { ...coverage, matches: (source) => coverage.matches({ ...source, whole: 'whole' }) };
}

/** Whether each covered row shows the field. */
export const isShown = (view: FieldView, field: Field): boolean =>
  view.kind === 'whole' || isOfEnvelope(field) || view.showing(field[0] ?? '') === 'always';

/** Whether no covered row shows the field. */
export const isNeverShown = (view: FieldView, [name = '']: Field): boolean => view.kind === 'part' && view.showing(name) === 'never';

/** The companion table with the columns and indexes of fields that all rows show. */
export function shownCompanion(companion: Companion, view: FieldView): Companion {
  if (view.kind === 'whole') return companion;
  const columns = companion.columns.filter(({ field, label = [field] }) => label.every((part) => isShown(view, part)));
  const names = new Set(columns.map(({ name }) => name));
  const isOfShown = (used: readonly string[]) => used.every((name) => name === 'key' || names.has(name));
  return {
    ...companion,
    columns,
    indexes: companion.indexes.filter((index) => isOfShown(index.columns.map(({ name }) => name))),
    uniques: companion.uniques.filter((unique) => isOfShown(unique.columns)),
    substrings: companion.substrings.filter(({ column }) => names.has(column)),
    search: companion.search?.texts.every(({ field }) => isShown(view, field)) ? companion.search : undefined,
  };
}

/** The types of the fields, as if the name did not have those that no row shows. */
export function shownTypes(types: FieldTypes, view: FieldView): FieldTypes {
  if (view.kind === 'whole') return types;
  const isHidden = ([name = '']: Field) => view.showing(name) === 'never';
  const asSeen = (field: Field): Field => (isHidden(field) ? [otherFields, ...field.slice(1)] : field);
  return {
    ...types,
    labelParts: types.labelParts?.every((part) => isShown(view, part)) ? types.labelParts : undefined,
    typeOf: (field) => types.typeOf(asSeen(field)),
    ...(types.declares && { declares: (field) => types.declares?.(asSeen(field)) === true }),
    ...(types.textsOf && { textsOf: (field) => types.textsOf?.(asSeen(field)) }),
    ...(types.collationOf && { collationOf: (field) => types.collationOf?.(asSeen(field)) }),
    ...(types.foldingOf && { foldingOf: (field) => types.foldingOf?.(asSeen(field)) }),
    ...(types.targetOf && { targetOf: (field) => (isHidden(field) ? undefined : types.targetOf?.(field)) }),
  };
}
