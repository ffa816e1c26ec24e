/** What this room needs of the process. */
import type { PasswordPolicy } from '../credentials/policy.ts';
import type { LoginContext } from '../sessions/context.ts';

export interface PasswordContext extends LoginContext {
  /** The rules for new passwords. */
  policy: PasswordPolicy;
}
