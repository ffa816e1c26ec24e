/** The parts of the process that this room needs. */
import type { AuditContext } from '../audit/context.ts';
import type { Hashing } from './hash.ts';
import type { Throttle } from './throttle.ts';

/** Among its members are the admission of the work on passwords in this process, and the secrets that are part of their hashes. */
export interface AttemptContext extends AuditContext, Hashing {
  /** Counts failed sign-ins, of all processes together. */
  throttle: Throttle;
}
