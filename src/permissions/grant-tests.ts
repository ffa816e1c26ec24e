/** Tests each grant of a caller, and each part of its rule, on one row: the conditions of the statements of requests, as columns. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { ChangeFacts, ChangeRule } from '../rights/change-rule.ts';
import type { CoverageSource } from '../rights/coverage.ts';

/** The row that is tested. */
export interface TestedRow {
  entity: string;
  userName: string;
  /** Undefined for a new entity. */
  key: string | undefined;
  /** JSON text of the fields of a new entity, or of a patch; undefined where nothing is to change. */
  text: string | undefined;
}

/** The findings, in the order of the grants of the rule. */
export interface GrantFindings extends ChangeFacts {
  covers: readonly boolean[];
  reads: readonly boolean[];
  /** The names of all fields that the row has, hidden ones too; none for a new entity. */
  present: readonly string[];
}

/** The findings of the row; undefined if there is none. */
export async function testGrants(trx: Transaction<Database>, rule: ChangeRule, row: TestedRow): Promise<GrantFindings | undefined> {
  const values: Readonly<Record<string, unknown>> = { ...rule.values, owner: null, name: row.entity };
  const value: CoverageSource['value'] = (name) => sql`${values[name]}`;
  const before = rule.before({ row: 'entity', value });
  const after = rule.after({ row: 'after', value });
  const isNew = row.key === undefined;
  const nothing = sql`'{}'::boolean[]`;
  const isTested = row.text !== undefined;
  const { rows } = await sql<GrantFindings>`
    select ${isNew ? sql`'{}'::text[]` : sql`array(select jsonb_object_keys(entity.fields))`} as present,
      ${isNew ? nothing : before.covers} as covers, ${isNew ? nothing : before.reads} as reads,
      ${isTested ? after.accepts : nothing} as accepts, ${isTested ? after.reads : nothing} as "readsAfter"
    from ${isNew ? newRow(row) : changedRow(row)}`.execute(trx);
  return rows[0];
}

/** SQL: the new entity as `after`, as the judgement of creates has it. */
const newRow = ({ entity, userName, text = '{}' }: TestedRow) =>
  sql`(select ${entity}::text as name, null::bigint as key, 1::bigint as version, ${text}::jsonb as fields, now() as created_at,
    ${userName}::text as created_by, now() as updated_at, ${userName}::text as updated_by offset 0) as after`;

/** SQL: the entity as `entity`, and as the patch makes it as `after`, as the judgement of changes has both. */
const changedRow = ({ entity, key, userName, text = '{}' }: TestedRow) =>
  sql`entity cross join lateral (
    select entity.name, entity.key, entity.version + 1 as version, json_merge_patch(entity.fields, ${text}::jsonb) as fields,
      entity.created_at, entity.created_by, greatest(now(), entity.updated_at) as updated_at, ${userName}::text as updated_by offset 0
  ) as after where entity.name = ${entity} and entity.key = ${key ?? null}::bigint`;
