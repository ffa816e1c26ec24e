/** The parts of the process that this room needs. */
import type { Store } from '../database/port.ts';
import type { AuditQuota } from './quota.ts';

export interface AuditContext {
  store: Store;
  /** Limits the audit events that callers can cause at will. */
  auditQuota: AuditQuota;
}
