/** The parts of the process that this room needs: nearly all, because each has metrics. */
import type { AttributeRegistry } from '../accounts/attribute-registry.ts';
import type { Admission } from '../admission/admission.ts';
import type { FollowedFile, Current } from '../config/secret-file.ts';
import type { Secret } from '../config/secrets.ts';
import type { EntityContext } from '../entities/reading/context.ts';
import type { TypeContext } from '../entity-types/context.ts';
import type { IssuerContext } from '../oidc/context.ts';
import type { PasswordChangeContext } from '../password/context.ts';
import type { DailyBackups } from '../administration/daily-backups.ts';
import type { RightsFilesWatch } from '../administration/rights/rights-files.ts';
import type { Background } from '../background/background.ts';

export interface MonitoringContext extends PasswordChangeContext, IssuerContext, TypeContext, EntityContext {
  /** The declared attributes, and the values of callers. */
  attributes: AttributeRegistry;
  /** Bounds concurrent work. */
  admission: Admission;
  /** The tokens of which a scraper of `/metrics` must show one; undefined: there is no such route. */
  metricsTokens: Current<readonly Secret[]> | undefined;
  /** The files of secrets that this process follows. */
  secretFiles: readonly FollowedFile[];
  /** The periodic work of this process. */
  background: Background;
  /** The backup of each day; undefined without BACKUP_DIR. */
  dailyBackups: DailyBackups | undefined;
  /** The files of RIGHTS_DIR; undefined without the setting. */
  rightsFiles: RightsFilesWatch | undefined;
  /** The version of the contract. */
  version: string;
}
