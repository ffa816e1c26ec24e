/** What this room needs of the process. */
import type { AuditContext } from '../audit/context.ts';
import type { SessionContext } from '../sessions/context.ts';

export interface KeyContext extends AuditContext, SessionContext {}
