/** An entity as it was at a time: in the last tick before it, which shows a transaction wholly or not at all (decision 150). */
import { sql } from 'kysely';
import { builder, prepare } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import { isInstant } from '../../filter/values.ts';
import { expectedFormat } from '../../problems/expected.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/coverage.ts';
import { shownFields } from '../../rights/field-view.ts';
import { prepareCovered } from '../covered-statements.ts';
import { changeColumns, versionsOf, type ChangeRow, type VersionPlace } from './history.ts';
import { instantOf } from '../../database/timestamp.ts';
import type { EntityRow } from '../row.ts';
import { findEntity } from '../find-entity.ts';

/** A state of the database. */
interface Tick {
  /** Its number, which the contract calls position. */
  position: string;
  at: Date;
  snapshot: string;
  loadedTo: string;
}

const tickColumns = ['n as position', 'at', sql<string>`snapshot::text`.as('snapshot'), 'loaded_to as loadedTo'] as const;

const findTickAt = prepare<{ at: string; keep: string }, Tick & { isKept: boolean }>('tick.at', (value) =>
  builder
    .selectFrom('feed_tick')
    .where('at', '<=', sql<Date>`${value('at')}::timestamptz`)
    .orderBy('at', 'desc')
    .orderBy('n', 'desc')
    .limit(1)
    .select([...tickColumns, sql<boolean>`at > now() - ${value('keep')}::interval`.as('isKept')])
    .compile(),
);

const findTick = prepare<{ position: string; keep: string }, Tick & { isKept: boolean }>('tick.find', (value) =>
  builder
    .selectFrom('feed_tick')
    .where('n', '=', sql<string>`${value('position')}::bigint`)
    .select([...tickColumns, sql<boolean>`at > now() - ${value('keep')}::interval`.as('isKept')])
    .compile(),
);

type InTick = VersionPlace & Tick;

/** A version as the tick shows it; null in place of fields that were purged. */
type KeptVersion = Omit<ChangeRow, 'fields'> & { fields: string | null };

const findLast = prepareCovered<InTick, KeptVersion>('history.as-of', (value, { coverage, view }) =>
  builder
    .selectFrom('entity_change')
    .where(versionsOf(value, coverage))
    .where('at', '<=', sql<Date>`${value('at')}::timestamptz`)
    .where(sql<boolean>`(id <= ${value('loadedTo')}::bigint or pg_visible_in_snapshot(xid, ${value('snapshot')}::pg_snapshot))`)
    .orderBy('version', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .select([...changeColumns, sql<string | null>`${shownFields(view, { row: 'entity_change', value })}::text`.as('fields')])
    .compile(),
);

const findFirst = prepareCovered<VersionPlace, Pick<ChangeRow, 'operation'>>('history.first', (value, { coverage }) =>
  builder
    .selectFrom('entity_change')
    .where(versionsOf(value, coverage))
    .orderBy('version')
    .orderBy('id')
    .limit(1)
    .select('operation')
    .compile(),
);

/** A time of RFC 3339, or the position of a tick. */
const position = /^[1-9][0-9]{0,17}$/;

/**
 * The entity as it was in the last tick at or before `asOf`, with the position of the tick. Undefined if the permit covers none that
 * existed then. Throws 400 for what is neither a time nor a position. Throws 410 `position-gone` if the tick, or the version of that time,
 * is no longer stored. `keep` is an interval.
 */
export async function findAsOf(
  store: Statements,
  permit: Permit<'read'>,
  key: string,
  asOf: string,
  keep: string,
): Promise<{ row: EntityRow; position: string } | undefined> {
  if (!position.test(asOf) && !isInstant(asOf))
    throw new Problem('malformed-request', {
      faults: [{ parameter: 'asOf', code: 'invalid-value', expected: expectedFormat('date-time') }],
    });
  const [tick] = position.test(asOf)
    ? await store.run(findTick, { position: asOf, keep })
    : await store.run(findTickAt, { at: asOf, keep });
  if (!tick?.isKept) throw new Problem('position-gone');
  const versions = { ...permitValues(permit), key, keep };
  const [last] = await store.run(findLast(permit), { ...versions, ...tick });
  if (last) {
    const { fields, operation, ...row } = last;
    return fields === null || operation === 'deleted' ? undefined : { row: { ...row, fields }, position: tick.position };
  }
  const [first] = await store.run(findFirst(permit), versions);
  if (first) {
    // It was created later.
    if (first.operation === 'created') return undefined;
    throw new Problem('position-gone');
  }
  const row = await findEntity(store, permit, key);
  if (!row || new Date(instantOf(row.createdAt)) > tick.at) return undefined;
  // Versions may be gone that were kept for less than now.
  if (new Date(instantOf(row.updatedAt)) > tick.at) throw new Problem('position-gone');
  return { row, position: tick.position };
}
