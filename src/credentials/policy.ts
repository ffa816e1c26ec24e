/**
 * Decides which passwords may be set (rules 32 to 34). It has no rules about kinds of characters, no expiry and no trimming. It does not
 * apply to existing passwords, which are only compared.
 */
import { ConfigError, type Config } from '../config/settings.ts';
import type { Fault } from '../problems/faults.ts';
import { BreachedPasswords } from './breached.ts';
import { normalisePassword } from './normalise.ts';

/** Maximum number of code points of a password. In UTF-8 they are at most 1,024 bytes, the other limit of rule 32. */
export const maximumLength = 256;

const serviceName = 'Entity Service';

export interface PasswordContext {
  /** The JSON pointer of the password in the request. */
  pointer: string;
  /** The name of the password's user. */
  userName: string;
  displayName: string;
}

export interface PasswordPolicy {
  /**
   * The faults of a new password; empty if it may be set. A wrong length or encoding is the only fault then. Throws `unavailable` if the
   * file of breached passwords can no longer be read.
   */
  check(password: string, context: PasswordContext): Promise<Fault[]>;
}

/** Creates the policy of the settings. Throws {@link ConfigError} if the file of breached passwords is unusable. */
export async function createPasswordPolicy({
  passwordMinLength,
  passwordBlocklistFile,
  publicUrl,
}: Pick<Config, 'passwordMinLength' | 'passwordBlocklistFile' | 'publicUrl'>): Promise<PasswordPolicy> {
  const breached = passwordBlocklistFile === undefined ? undefined : new BreachedPasswords(passwordBlocklistFile);
  const useless = await breached?.findFlaw();
  if (useless !== undefined) throw new ConfigError([`PASSWORD_BLOCKLIST_FILE: ${passwordBlocklistFile}: ${useless}`]);

  // It reads and indexes its lists, and most programs that import this file check no password.
  const { findGuessable } = await import('./guessable.ts');
  return {
    async check(password, { pointer, userName, displayName }) {
      const normal = normalisePassword(password);
      if (normal === undefined) return [{ pointer, code: 'invalid-encoding' }];
      const length = Array.from(normal).length;
      if (length < passwordMinLength)
        return [
          {
            pointer,
            code: 'too-short',
            values: { minimum: passwordMinLength },
            expected: { kind: 'minimum-length', values: { limit: passwordMinLength } },
          },
        ];
      if (length > maximumLength)
        return [
          {
            pointer,
            code: 'too-long',
            values: { maximum: maximumLength },
            expected: { kind: 'maximum-length', values: { limit: maximumLength } },
          },
        ];
      const faults: Fault[] = [];
      const guessable = findGuessable(normal, [serviceName, publicUrl.hostname, userName, displayName]);
      if (guessable) faults.push({ pointer, code: guessable });
      if (await breached?.has(normal)) faults.push({ pointer, code: 'breached' });
      return faults;
    },
  };
}
