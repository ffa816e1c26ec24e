/** What one process shares among its handlers. Made by `main.ts` and by the tests; nothing in it belongs to a request. */
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import type { AuditQuota } from './audit/quota.ts';
import type { PrincipalCache } from './authn/principal-cache.ts';
import type { Config } from './config.ts';
import type { Listener } from './database/listen.ts';
import type { Pipelines } from './database/pipelines.ts';
import type { Database } from './database/tables.ts';
import type { EntityTypes } from './entities/types.ts';
import type { TrustedIssuers } from './oidc/trusted.ts';
import type { HeldBytes } from './ops/held-bytes.ts';
import type { OpenScope } from './ops/spans.ts';
import type { Gate } from './password/gate.ts';
import type { Peppers } from './password/pepper.ts';
import type { PasswordPolicy } from './password/policy.ts';
import type { Throttle } from './password/throttle.ts';

export interface Context {
  config: Config;
  db: Kysely<Database>;
  pool: Pool;
  /** For statements of the hot path that only read. */
  reads: Pipelines;
  principals: PrincipalCache;
  listener: Listener;
  /** What the fields of declared entities must be like. */
  entityTypes: EntityTypes;
  /** Whose access tokens count. */
  issuers: TrustedIssuers;
  /** Which events that callers can cause at will go into the audit trail, so that none can flood it. */
  auditQuota: AuditQuota;
  /** How much memory callers make this process hold. */
  heldBytes: HeldBytes;
  /** Bounds the work on passwords in this process. */
  gate: Gate;
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
