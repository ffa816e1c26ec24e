/** The parts of the process that the rooms of entities need. */
import type { AttributeRegistry } from '../../accounts/attribute-registry.ts';
import type { Config } from '../../config/settings.ts';
import type { Store } from '../../database/port.ts';
import type { ServiceSecrets } from '../../database/service-secrets.ts';
import type { Readers } from '../../database/standby/readers.ts';
import type { EntityTypes } from '../../entity-types/types.ts';
import type { Admission } from '../../admission/admission.ts';

/** For reading entities. */
export interface ReadingContext {
  /** The keys that the service has in its database. */
  serviceSecrets: ServiceSecrets;
  /** Chooses between the database and its standby for lists. */
  readers: Readers;
  /** The schemas of declared entities' fields. */
  entityTypes: EntityTypes;
  /** Bounds concurrent work. */
  admission: Admission;
  /** The declared attributes, which filters compare with fields. */
  attributes: AttributeRegistry;
}

/** For reading and writing them. */
export interface EntityContext extends ReadingContext {
  config: Config;
  /** The database. */
  store: Store;
}
