/** The parts of the process that this room needs. */
import type { AuditContext } from '../audit/context.ts';
import type { SessionContext } from '../sessions/context.ts';
import type { IssuerRegistry } from './tokens/issuer-registry.ts';

export interface IssuerContext extends AuditContext, SessionContext {
  /** The trusted issuers of access tokens. */
  issuers: IssuerRegistry;
}
