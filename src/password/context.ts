/** The parts of the process that this room needs. */
import type { PasswordPolicy } from '../credentials/policy.ts';
import type { LoginContext } from '../sessions/context.ts';

export interface PasswordChangeContext extends LoginContext {
  /** The rules for new passwords. */
  policy: PasswordPolicy;
}
