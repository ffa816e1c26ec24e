/** The right to administer users, roles, profiles and credentials. It is none of the rights on entities. */
import type { Origin } from '../network/origin.ts';

/** The administrator who makes a change, for the audit trail (decision 79). */
export interface Actor {
  /** With `cli` the operating system's name of the user that runs the command, with `api` the name of the signed-in administrator. */
  name: string;
  /** The request that caused the change; undefined without a request, as with `cli`. */
  origin: Origin | undefined;
  /** The source of the change: the administration command, a request, the first start of the service, the files of types at any start, or its daily backup. */
  via: 'cli' | 'api' | 'start' | 'files' | 'schedule';
}

declare const checked: unique symbol;

/**
 * The right to every administration, which comes with access to the database. Only `asOwner` of `src/cli/owner.ts` makes one, and a use case of
 * `src/administration` takes nothing else, so an unchecked change does not compile (rule 169).
 */
export interface Owner {
  readonly [checked]: 'owner';
  readonly actor: Actor;
}
