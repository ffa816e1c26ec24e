/** The statements that create entities for one caller: many of one name, and one with an Idempotency-Key. */
import { sql } from 'kysely';
import type { Companion, CompanionValues } from '../companion/layout.ts';
import { inputColumns, insertRows, writtenWith, writtenWithValues } from '../companion/rows.ts';
import { isAt, locksClaim, type Claim } from '../idempotency/idempotency.ts';
import { columnList, type EntityRow } from '../row.ts';
import type { StatementVariant } from '../covered-statements.ts';
import type { CompanionText } from './statements.ts';
import { builder, prepare, type ValueOf } from '../../database/driver/prepared.ts';
import { entityChanged, type ChangeValues } from './changed.ts';
import { rowOf } from './grouped-writes.ts';
import { typeIsCurrent } from '../type-revision.ts';

interface InsertBulk extends ChangeValues {
  name: string;
  /** JSON text of an array of objects: `fields`, and the values of the companion row. */
  rows: string;
}

/** The row as it was inserted. */
export interface InsertedRow {
  key: string;
  version: string;
}

/**
 * Inserts all rows, or none when the type has changed. The keys go up in the order of the array. It takes two thirds of the time of `entity.insert-many`, whose
 * rows have a caller each.
 */
const insertBulk = (value: ValueOf<InsertBulk>, companion: Companion | null) => {
  const [user, name] = [value('userName'), value('name')];
  const columns = sql.join([sql`fields jsonb`, ...(companion ? inputColumns(companion) : [])]);
  return entityChanged<InsertedRow>({
    event: 'entity.created',
    steps: sql`
      input as materialized (
        select nextval('entity_key_seq') as key, * from jsonb_to_recordset(${value('rows')}::jsonb) as input (${columns})
      )`,
    written: sql`
      insert into entity (name, key, fields, created_by, updated_by) overriding system value
      select ${name}, key, fields, ${user}, ${user} from input
      where ${typeIsCurrent(name, value('typeRevision'))}
      returning entity.*`,
    value,
    companion: companion ? insertRows(companion, writtenWith(companion, sql`written join input using (key)`)) : undefined,
    returning: sql`key, version`,
  }).compile(builder);
};

export const prepareInsertBulk = ({ companion, variant }: StatementVariant) =>
  prepare<InsertBulk, InsertedRow>('entity.insert-bulk', (value) => insertBulk(value, companion), variant);

/**
 * The object of a row. `fields` must be one JSON value that `json/json.ts` has accepted: so it can neither end its row nor begin another. `values` are those of the
 * companion row; undefined without one.
 */
export const bulkRowOf = (fields: string, values: CompanionValues | undefined): string =>
  values && Object.keys(values).length > 0 ? rowOf(values, 'fields', fields) : `{"fields":${fields}}`;

interface InsertWithKey extends ChangeValues, CompanionText, Claim {
  /** JSON text of an object. */
  fields: string;
}

/**
 * Inserts unless the Idempotency-Key is taken or the type has changed. Its row in `idempotency` shows that, and before that row is committed the lock does, which the
 * statement that writes it holds.
 */
const insertWithKey = (value: ValueOf<InsertWithKey>, { companion }: StatementVariant) => {
  const [user, name] = [value('userName'), value('entity')];
  return entityChanged<EntityRow>({
    event: 'entity.created',
    written: sql`
      insert into entity (name, fields, created_by, updated_by)
      select ${name}, ${value('fields')}::jsonb, ${user}, ${user}
      where ${locksClaim(value)}
        and not exists (select from idempotency where ${isAt(value)})
        and ${typeIsCurrent(name, value('typeRevision'))}
      returning entity.*`,
    value,
    companion: companion ? insertRows(companion, writtenWithValues(companion, value('companion'))) : undefined,
    also: sql`
      insert into idempotency (user_name, entity, operation, key, fingerprint, entity_key)
      select ${user}, name, ${value('operation')}, ${value('key')}, ${value('fingerprint')}, key from written`,
    returning: columnList,
  }).compile(builder);
};

/** The statement that creates an entity and stores its Idempotency-Key. It returns no row if the key is taken or the type has changed. */
export const prepareInsertWithKey = (of: StatementVariant) =>
  prepare<InsertWithKey, EntityRow>('entity.insert-keyed', (value) => insertWithKey(value, of), of.variant);
