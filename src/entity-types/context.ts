/** The parts of the process that this room needs. */
import type { Admission } from '../admission/admission.ts';
import type { Config } from '../config/settings.ts';
import type { Listener } from '../database/notifications.ts';
import type { Store } from '../database/port.ts';
import type { LeftoverQueue } from './leftover-queue.ts';
import type { DocumentChecks } from './proof.ts';
import type { EntityTypes } from './types.ts';

export interface TypeContext {
  config: Config;
  /** The database. */
  store: Store;
  listener: Listener;
  /** Checks documents of callers. */
  documentChecks: DocumentChecks;
  /** Bounds concurrent work. */
  admission: Admission;
  /** The schemas of declared entities' fields. */
  entityTypes: EntityTypes;
  /** Drops what changes of types leave behind. */
  leftovers: LeftoverQueue;
}
