/** The statement that finds an entity by the values of a unique rule. It is built for one request, because it depends on the companion table. */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from '../companion/columns.ts';
import type { Companion, CompanionUnique, CompanionValues } from '../companion/layout.ts';
import { inSchema } from '../companion/table.ts';
import { permitValues, rowsCovered } from '../rights/row-predicate.ts';
import type { Permit } from '../rights/permit.ts';
import { areLight } from './heavy.ts';
import { areSameFields } from './same-fields.ts';

export interface FoundEntity {
  key: string;
  /** Null for an entity that the permit does not cover. */
  version: string | null;
  /** Whether merging the patch would change nothing; null for an entity that is not covered, and with `light` for one that is heavy. */
  isUnchanged: boolean | null;
}

/** SQL: the entity whose companion row has the values of the rule, and what merging `patch` into it would do. No row if there is none. */
export function findByUnique(
  companion: Companion,
  unique: CompanionUnique,
  values: CompanionValues,
  permit: Permit<'update'>,
  patch: string,
  light: boolean,
): RawBuilder<FoundEntity> {
  const covered = permitValues(permit);
  const isWanted = light ? areLight(sql`entity.fields`) : sql<boolean>`entity.key is not null`;
  return sql<FoundEntity>`
    select found.key, entity.version,
      case when ${isWanted} then (
        select ${areSameFields(sql`entity.fields`, sql`merged.fields`)} from json_merge_patch(entity.fields, ${patch}::jsonb) as merged (fields)
      ) end as "isUnchanged"
    from ${inSchema(companion.table)} as found
    left join entity on ${rowsCovered((name) => sql`${covered[name]}`)} and entity.key = found.key
    where ${hasValues(companion, unique, values)}`;
}

/** SQL: the key of the entity whose companion row has the values of the rule. */
export const findKeyByUnique = (companion: Companion, unique: CompanionUnique, values: CompanionValues): RawBuilder<{ key: string }> =>
  sql<{ key: string }>`select key from ${inSchema(companion.table)} where ${hasValues(companion, unique, values)}`;

function hasValues({ columns }: Companion, unique: CompanionUnique, values: CompanionValues): RawBuilder<boolean> {
  const tests = columns
    .filter(({ name }) => unique.columns.includes(name))
    .map((column) => sql`${sql.ref(column.name)} = ${storedValue(column, sql`${values[column.name]}::${inputType(column)}`)}`);
  return sql<boolean>`${sql.join(tests, sql` and `)}`;
}
