/** The parts of the process that this room needs. */
import type { AuditContext } from '../audit/context.ts';
import type { SessionContext } from '../sessions/context.ts';

export interface KeyContext extends AuditContext, SessionContext {}
