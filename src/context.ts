/** The objects that one process shares among its handlers. `service.ts` and the tests create it; nothing in it belongs to a request. */
import type { AuditQuota } from './audit/quota.ts';
import type { PrincipalCache } from './authn/principal-cache.ts';
import type { Current, FollowedFile } from './config/secret-file.ts';
import type { Secret } from './config/secrets.ts';
import type { Config } from './config/settings.ts';
import type { Listener } from './database/notifications.ts';
import type { EntityQueues } from './entities/heavy.ts';
import type { Store } from './database/port.ts';
import type { Readers } from './database/standby/readers.ts';
import type { ServiceSecrets } from './database/service-secrets.ts';
import type { LeftoverQueue } from './entity-types/leftover-queue.ts';
import type { EntityTypes } from './entity-types/types.ts';
import type { IssuerRegistry } from './oidc/tokens/issuer-registry.ts';
import type { HeldBytes } from './admission/held-bytes.ts';
import type { DailyBackups } from './maintenance/daily-backups.ts';
import type { OpenScope } from './telemetry/spans.ts';
import type { Hashing } from './credentials/hash.ts';
import type { PasswordPolicy } from './credentials/policy.ts';
import type { Throttle } from './credentials/throttle.ts';

/** Among its members are the queue for the work on passwords in this process, and the secrets that are part of their hashes. */
export interface Context extends Hashing {
  config: Config;
  /** The database. */
  store: Store;
  /** Chooses between the database and its standby for lists. */
  readers: Readers;
  principals: PrincipalCache;
  listener: Listener;
  /** The schemas of declared entities' fields. */
  entityTypes: EntityTypes;
  /** Drops what changes of types leave behind. */
  leftovers: LeftoverQueue;
  /** The trusted issuers of access tokens. */
  issuers: IssuerRegistry;
  /** Limits the audit events that callers can cause at will. */
  auditQuota: AuditQuota;
  /** Bounds the memory that callers make this process hold. */
  heldBytes: HeldBytes;
  /** Bounds concurrent entity operations that cost the database much. */
  entityQueues: EntityQueues;
  /** The keys that the service has in its database. */
  serviceSecrets: ServiceSecrets;
  /** Counts failed sign-ins, of all processes together. */
  throttle: Throttle;
  /** The rules for new passwords. */
  policy: PasswordPolicy;
  /** What a scraper of `/metrics` must show; undefined: there is no such route. */
  metricsTokens: Current<readonly Secret[]> | undefined;
  /** The files of secrets that this process follows. */
  secretFiles: readonly FollowedFile[];
  /** The backup of each day; undefined without BACKUP_DIR. */
  dailyBackups: DailyBackups | undefined;
  /** Traces requests; undefined if traces are off. */
  trace: OpenScope | undefined;
  /** The version of the contract. */
  version: string;
}
