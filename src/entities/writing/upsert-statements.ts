/** The statements that find an entity by the values of a unique rule. Each is built for one request, because it depends on the companion table. */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from '../companion/columns.ts';
import {
  labelColumn,
  readableCompanion,
  type Companion,
  type CompanionColumn,
  type CompanionUnique,
  type CompanionValues,
} from '../companion/layout.ts';
import { inSchema } from '../companion/table.ts';
import { rowsOfPermit, type CoveredRows } from '../../rights/coverage.ts';
import { fieldsOfPermit, type EntityRights } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';

export interface FoundEntity {
  key: string;
  /** Null for an entity that the permit does not cover. */
  version: string | null;
}

/** SQL: the entity whose companion row has the values of the rule. No row if there is none. */
export function findByUnique(
  companion: Companion,
  unique: CompanionUnique,
  values: CompanionValues,
  permit: Permit<'update'>,
): RawBuilder<FoundEntity> {
  return sql<FoundEntity>`
    select found.key, entity.version from ${inSchema(companion.table)} as found
    left join entity on ${rowsOfPermit(permit)} and entity.key = found.key ${showsUnique(companion, unique, permit)}
    where ${hasValues(companion, unique, values)}`;
}

/** SQL: the condition that the row of `entity` shows the fields of the rule. Otherwise an upsert, an import or a conflict would tell their values. */
export function showsUnique({ columns }: Companion, unique: CompanionUnique, { view }: Pick<EntityRights, 'view'>): RawBuilder<unknown> {
  if (view.kind === 'whole') return sql``;
  const names = columns.filter(({ name }) => unique.columns.includes(name)).map(({ field: [name = ''] }) => name);
  return sql`and ${fieldsOfPermit(view)} ?& ${[...new Set(names)]}::text[]`;
}

/** SQL: the key of the entity whose companion row has the values of the rule. */
export const findKeyByUnique = (companion: Companion, unique: CompanionUnique, values: CompanionValues): RawBuilder<{ key: string }> =>
  sql<{ key: string }>`select key from ${inSchema(companion.table)} where ${hasValues(companion, unique, values)}`;

/** SQL: the key of the entity with the values of the rule, and its name if the type has names, if the rights cover it and show its fields of the rule. A value that `values` lacks is that of the entity with the key `own`. */
export function coveredKey(
  rights: CoveredRows & EntityRights,
  companion: Companion,
  unique: CompanionUnique,
  values: CompanionValues,
  own: string | undefined,
): RawBuilder<{ key: string; label?: string | null }> {
  const table = inSchema(companion.table);
  const readable = readableCompanion(companion);
  const named = readable && labelColumn(readable);
  const label = named ? sql`, found.${sql.ref(named.name)} as label` : sql``;
  const kept = unique.columns.filter((name) => !Object.hasOwn(values, name));
  const likeOwn = kept.map((name) => sql`${sql.ref(name)} = (select ${sql.ref(name)} from ${table} where key = ${own}::bigint)`);
  const given = { ...unique, columns: unique.columns.filter((name) => !kept.includes(name)) };
  return sql<{ key: string; label?: string | null }>`
    select entity.key::text as key${label} from ${table} as found
    join entity on ${rowsOfPermit(rights)} and entity.key = found.key ${showsUnique(companion, unique, rights)}
    where ${sql.join([hasValues(companion, given, values), ...likeOwn], sql` and `)}`;
}

function hasValues({ columns }: Companion, unique: CompanionUnique, values: CompanionValues): RawBuilder<boolean> {
  const own = columns.filter(({ name }) => unique.columns.includes(name));
  return columnsHave(own, undefined, (column) => sql`${values[column.name]}::${inputType(column)}`);
}

/** SQL: whether the columns of `table` have the values, which are of their `inputType`. */
export function columnsHave(
  columns: readonly CompanionColumn[],
  table: string | undefined,
  valueOf: (column: CompanionColumn) => RawBuilder<unknown>,
): RawBuilder<boolean> {
  const tests = columns.map(
    (column) => sql`${sql.ref(table === undefined ? column.name : `${table}.${column.name}`)} = ${storedValue(column, valueOf(column))}`,
  );
  return sql<boolean>`${sql.join(tests, sql` and `)}`;
}
