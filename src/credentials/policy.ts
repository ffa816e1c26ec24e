/**
 * Which passwords may be set (rules 32 to 34). There are no rules about kinds of characters, nothing expires, and nothing is trimmed. It
 * does not see passwords that are in use already: those are only compared.
 */
import { ConfigError, type Config } from '../config/settings.ts';
import type { Fault } from '../errors.ts';
import { BreachedPasswords } from './breached.ts';
import { findGuessable } from './guessable.ts';
import { normalisePassword } from './normalise.ts';

/** Most code points of a password. In UTF-8 they are at most 1,024 bytes, which is the other limit of rule 32. */
export const maximumLength = 256;

const serviceName = 'Entity Service';

export interface PasswordContext {
  /** Where faults point to. */
  pointer: string;
  /** Whose password it is to be. */
  userName: string;
  displayName: string;
}

export interface PasswordPolicy {
  /**
   * What is wrong with a new password; empty when it may be set. A wrong length or encoding is told alone. Throws `unavailable` when the
   * file of breached passwords cannot be read any more.
   */
  check(password: string, context: PasswordContext): Promise<Fault[]>;
}

/** The policy that the settings ask for. Throws {@link ConfigError} when the file of breached passwords is of no use. */
export async function createPasswordPolicy({
  passwordMinLength,
  passwordBlocklistFile,
  publicUrl,
}: Pick<Config, 'passwordMinLength' | 'passwordBlocklistFile' | 'publicUrl'>): Promise<PasswordPolicy> {
  const breached = passwordBlocklistFile === undefined ? undefined : new BreachedPasswords(passwordBlocklistFile);
  const useless = await breached?.findFlaw();
  if (useless !== undefined) throw new ConfigError([`PASSWORD_BLOCKLIST_FILE: ${passwordBlocklistFile}: ${useless}`]);

  return {
    async check(password, { pointer, userName, displayName }) {
      const normal = normalisePassword(password);
      if (normal === undefined) return [{ pointer, code: 'invalid-encoding' }];
      const length = Array.from(normal).length;
      if (length < passwordMinLength) return [{ pointer, code: 'too-short', values: { minimum: passwordMinLength } }];
      if (length > maximumLength) return [{ pointer, code: 'too-long', values: { maximum: maximumLength } }];
      const faults: Fault[] = [];
      const guessable = findGuessable(normal, [serviceName, publicUrl.hostname, userName, displayName]);
      if (guessable) faults.push({ pointer, code: guessable });
      if (await breached?.has(normal)) faults.push({ pointer, code: 'breached' });
      return faults;
    },
  };
}
