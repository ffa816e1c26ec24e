/** The objects that one process shares among its handlers. `service.ts` and the tests create it; nothing in it belongs to a request. */
import type { AuditQuota } from './audit/quota.ts';
import type { PrincipalCache } from './authn/principal-cache.ts';
import type { Config } from './config/settings.ts';
import type { Listener } from './database/notifications.ts';
import type { EntityQueues } from './entities/heavy.ts';
import type { Store } from './database/port.ts';
import type { EntityTypes } from './entity-types/types.ts';
import type { IssuerRegistry } from './oidc/tokens/issuer-registry.ts';
import type { HeldBytes } from './http/held-bytes.ts';
import type { OpenScope } from './telemetry/spans.ts';
import type { BoundedQueue } from './http/concurrency-limit.ts';
import type { Peppers } from './credentials/pepper.ts';
import type { PasswordPolicy } from './credentials/policy.ts';
import type { Throttle } from './credentials/throttle.ts';

export interface Context {
  config: Config;
  /** The database. */
  store: Store;
  principals: PrincipalCache;
  listener: Listener;
  /** The schemas of declared entities' fields. */
  entityTypes: EntityTypes;
  /** The trusted issuers of access tokens. */
  issuers: IssuerRegistry;
  /** Limits the audit events that callers can cause at will. */
  auditQuota: AuditQuota;
  /** Bounds the memory that callers make this process hold. */
  heldBytes: HeldBytes;
  /** Bounds concurrent entity operations that cost the database much. */
  entityQueues: EntityQueues;
  /** Bounds the work on passwords in this process. */
  gate: BoundedQueue;
  /** The secrets that are part of password hashes besides the passwords. */
  peppers: Peppers;
  /** Counts failed sign-ins, of all processes together. */
  throttle: Throttle;
  /** The rules for new passwords. */
  policy: PasswordPolicy;
  /** Traces requests; undefined if traces are off. */
  trace: OpenScope | undefined;
  /** The version of the contract. */
  version: string;
}
