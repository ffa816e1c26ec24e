/** The actors of the service itself, and the audit event of a change by an administrator (decision 79). */
import type { Kysely } from 'kysely';
import { insertEvent, type AuditEvent } from './store.ts';
import type { Database } from '../database/tables.ts';
import type { Actor } from '../rights/administration.ts';

/** The service itself, which creates the first administrator if the database has no user. */
export const theService: Actor = { name: 'entity-service', origin: undefined, via: 'start' };

/** The service itself, which applies the files of ENTITY_TYPES_DIR and RIGHTS_DIR. */
export const typeFiles: Actor = { ...theService, via: 'files' };

/** The service itself, which writes the backup of each day. */
export const schedule: Actor = { ...theService, via: 'schedule' };

const partyOf = { cli: 'administrator', api: 'administrator', start: 'first start', files: 'service', schedule: 'service' } as const;

type RecordedChange = Pick<AuditEvent, 'event' | 'userName' | 'detail'>;

/** Writes the audit event of a change that `actor` makes; call it in the transaction of the change. */
export async function recordChange(
  trx: Kysely<Database>,
  { name, origin, via }: Actor,
  { event, userName, detail }: RecordedChange,
): Promise<void> {
  await insertEvent(trx, origin, { event, outcome: 'ok', userName, detail: { by: partyOf[via], via, actor: name, ...detail } });
}
