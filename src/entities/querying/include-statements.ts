/**
 * The statements that read entities together with those that they refer to. Each has the condition of the
 * permit for the name that it reads, `rowsOfPermit` (rule 64).
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import { entitySource } from '../../filter/source.ts';
import type { Permit } from '../../rights/permit.ts';
import { rowsOfPermit } from '../../rights/coverage.ts';
import type { Include } from './include.ts';
import { projectedFields, type Projection } from './projection.ts';
import { rowColumnList, type EntityRow } from '../row.ts';
import { entityOf, shownColumns, shownRows } from '../shown-rows.ts';

/** SQL: the keys that the references of a row of `entity` have, in the order of `includes`; null where a field is no key. */
export function referencesOf(includes: readonly Pick<Include, 'field'>[]): RawBuilder<(string | null)[]> {
  return sql`array[${sql.join(includes.map(({ field }) => sql`${entitySource.typed(field, 'int64')}::text`))}]::text[]`;
}

/** A row with the keys of its references. */
export type ReferringRow = EntityRow & { references: (string | null)[] };

/** One entity with its references. */
export function viewQuery(
  permit: Permit<'read'>,
  key: string,
  projection: Projection | undefined,
  includes: readonly Pick<Include, 'field'>[],
): CompiledQuery<ReferringRow> {
  const rows = shownRows(permit);
  return sql<ReferringRow>`
    select ${rowColumnList}, ${projectedFields(projection)} as fields, ${referencesOf(includes)} as references
    from ${rows.table} where ${rowsOfPermit(rows.permit)} and entity.key = ${key}::bigint`.compile(builder);
}

/** The entities of one name that are wanted, each with the place in the page of the first item that leads to it. */
export interface WantedEntities {
  permit: Permit<'read'>;
  positions: ReadonlyMap<string, number>;
  /** The references of these entities that are followed. */
  further: readonly Include[];
}

/** A row that was wanted; null in place of fields and references that the page has no room for. */
export type IncludedRow = Omit<EntityRow, 'fields'> &
  ({ fields: string; references: (string | null)[] } | { fields: null; references: null }) & { position: number };

/**
 * All wanted entities that their permits cover, in the order of their positions. Fields beyond `bytes` of JSON text are not read, but for
 * those of position 0. Behind `offset 0` PostgreSQL looks each key up; otherwise it might read the whole name instead.
 */
export function includedQuery(wanted: readonly WantedEntities[], bytes: number): CompiledQuery<IncludedRow> {
  const isWhole = wanted.every(({ permit }) => permit.view.kind === 'whole');
  const columns = isWhole ? sql`entity.*` : shownColumns;
  const rows = wanted.map(
    ({ permit, positions }) => sql`
      select ${columns}, wanted.position
      from unnest(${[...positions.keys()]}::bigint[], ${[...positions.values()]}::int[]) as wanted (key, position)
      cross join ${entityOf(permit, sql`wanted.key`)}`,
  );
  const references = wanted.map(({ permit, further }) => sql`when ${permit.entity}::text then ${referencesOf(further)}`);
  return sql<IncludedRow>`
    select ${rowColumnList}, position,
      case when fits then fields::text end as fields,
      case when fits then case name ${sql.join(references, sql` `)} end end as references
    from (
      select *, position = 0 or sum(bytes) over (order by position, name, key rows unbounded preceding) <= ${bytes} as fits
      from (${sql.join(rows, sql` union all `)}) as wanted
    ) as entity
    order by position, name, key`.compile(builder);
}
