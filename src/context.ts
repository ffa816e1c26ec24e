/** What one process shares among its handlers. Made by `main.ts` and by the tests; nothing in it belongs to a request. */
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
  /** What the fields of declared entities must be like. */
  entityTypes: EntityTypes;
  /** Whose access tokens count. */
  issuers: IssuerRegistry;
  /** Which events that callers can cause at will go into the audit trail, so that none can flood it. */
  auditQuota: AuditQuota;
  /** How much memory callers make this process hold. */
  heldBytes: HeldBytes;
  /** Bounds what entity operations that cost the database much do at once. */
  entityQueues: EntityQueues;
  /** Bounds the work on passwords in this process. */
  gate: BoundedQueue;
  /** What goes into the hashes of passwords besides the passwords. */
  peppers: Peppers;
  /** Counts failed sign-ins, together with all other processes. */
  throttle: Throttle;
  /** What a new password must be like. */
  policy: PasswordPolicy;
  /** Traces requests, where traces are on. */
  trace: OpenScope | undefined;
  /** The version of the contract. */
  version: string;
}
