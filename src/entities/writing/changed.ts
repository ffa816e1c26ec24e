/**
 * What goes along with each change of an entity, in the statement and so in the transaction of the change: its audit event (rule 85), its version
 * in the history with what it replaced and who made it (decision 300), and its row in the companion table of the type. Every statement that creates, updates or deletes entities is made by
 * {@link entityChanged}.
 */
import { sql, type RawBuilder } from 'kysely';
import { eventsFrom, type AuditEventName } from '../../audit/store.ts';
import type { Origin } from '../../network/origin.ts';
import type { Action } from '../../rights/vocabulary.ts';
import type { Permit } from '../../rights/permit.ts';

/** The user who changes an entity, where the request comes from, and the type that the process has checked. */
export interface ChangeValues {
  userName: string;
  sessionId: string | null;
  /** As {@link Permit} has it. */
  credential: string;
  /** A UUID. */
  requestId: string;
  address: string;
  userAgent: string | null;
  /** The revision of the entity's type; 0 for none. */
  typeRevision: string;
}

/** The values of a change that `permit` allows, a request from `origin` makes, and the type of revision `typeRevision` allows. */
export const changeValues = (permit: Permit<Action>, origin: Origin, typeRevision: string): ChangeValues => ({
  userName: permit.userName,
  sessionId: permit.sessionId,
  credential: permit.credential,
  requestId: origin.requestId,
  address: origin.address,
  userAgent: origin.userAgent ?? null,
  typeRevision,
});

const columnTypes: Readonly<Record<keyof ChangeValues, string>> = {
  userName: 'text',
  sessionId: 'uuid',
  credential: 'text',
  requestId: 'text',
  address: 'text',
  userAgent: 'text',
  typeRevision: 'bigint',
};

/** SQL: the names of {@link ChangeValues} as columns of a grouped statement's input. */
export const changeColumns = sql.join(Object.keys(columnTypes).map((name) => sql.ref(name)));

/** SQL: the same, each with its type. */
export const typedChangeColumns = sql.join(Object.entries(columnTypes).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`));

/** The version that a change replaces. */
interface FormerVersion {
  /** The expression of {@link formerFields} in a query of `rows`. */
  fields: RawBuilder<unknown>;
  /** An expression of JSON objects, in a query of `rows`: all members that the change may change. Null makes no comparison. */
  candidates: RawBuilder<unknown>;
}

/** SQL: the fields of a locked row of `table`, which a change replaces; null if that version is at most 12 hours old, so that the history has it for longer. */
export const formerFields = (table: 'entity' | 'entity_trash'): RawBuilder<unknown> => {
  const row = sql.ref(table);
  return sql`case when ${row}.updated_at < now() - interval '12 hours' then ${row}.fields end`;
};

type ReplacingEvent = 'entity.updated' | 'entity.restored';

type EntityChange = CommonChange &
  (
    | { event: AuditEventName & ReplacingEvent; former: FormerVersion }
    | { event: AuditEventName & `entity.${'created' | 'deleted' | 'purged'}`; former?: undefined }
  );

interface CommonChange {
  /** The common table expressions that `written` uses. */
  steps?: RawBuilder<unknown>;
  /** The statement that changes rows and returns each one whole: `returning entity.*`. */
  written: RawBuilder<unknown>;
  /** The expression of each value of the caller that changed a row, in a query of `rows`. */
  value: (name: keyof ChangeValues) => RawBuilder<unknown>;
  /** The changed rows as `written`, joined with those of their callers; by default one caller has changed all. */
  rows?: RawBuilder<unknown>;
  /** The statement that writes the companion rows of `written`; undefined if there are none. */
  companion?: RawBuilder<unknown> | undefined;
  /** One more statement of the same transaction, which sees the changed rows as `written`. */
  also?: RawBuilder<unknown> | undefined;
  /** The query of the rows that the change would leave as they are, with the columns of `written`. They are returned, and nothing is written for them. */
  unchanged?: RawBuilder<unknown>;
  /** What the whole statement returns of each row of `written`. */
  returning: RawBuilder<unknown>;
}

/** Makes the statement that changes entities and writes what goes along with each change, in one round trip. */
export function entityChanged<R>(change: EntityChange): RawBuilder<R> {
  const { event, former, steps, written, value, rows = sql.ref('written'), companion, also, unchanged, returning } = change;
  const events = eventsFrom(rows, value, {
    event: sql.lit(event),
    sessionId: sql`${value('sessionId')}::uuid`,
    detail: sql`jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)`,
  });
  // The last row of a purged entity, which may be one of its history, has no time of its last change.
  const at = event === 'entity.purged' ? sql`now()` : sql`greatest(now(), written.updated_at)`;
  const compared =
    former && sql` cross join lateral json_changed_members(${former.fields}, written.fields, ${former.candidates}) as change`;
  const history = sql`
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request
      ${former ? sql`, changed, before` : sql``})
    select ${at}, written.name, written.key, written.version, ${sql.lit(event.slice('entity.'.length))}, ${value('userName')},
      written.created_at, written.created_by, written.fields, ${value('credential')}, ${value('requestId')}::uuid
      ${former ? sql`, change.changed, change.before` : sql``}
    from ${rows}${compared ?? sql``}`;
  const expressions = [...(steps ? [steps] : []), sql`written as (${written})`, sql`events as (${events})`, sql`history as (${history})`];
  if (companion) expressions.push(sql`companion as (${companion})`);
  if (also) expressions.push(sql`also as (${also})`);
  const rest = unchanged ? sql` union all select ${returning} from (${unchanged}) as unchanged` : sql``;
  return sql<R>`with ${sql.join(expressions)} select ${returning} from written${rest}`;
}
