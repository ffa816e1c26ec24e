/**
 * Reads a new password from a hidden prompt or standard input, or generates one. It is never an argument, because all users of the machine
 * could read it in the list of processes (rule 87).
 */
import { buffer } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { describeFault } from '../locales/describe.ts';
import { Admission } from '../admission/admission.ts';
import { hashPassword } from '../credentials/hash.ts';
import { readPeppers } from '../credentials/pepper.ts';
import { createPasswordPolicy } from '../credentials/policy.ts';
import { generatePassword } from '../administration/first-administrator.ts';
import type { Admin, Desk } from './command.ts';
import { Refusal } from './output.ts';

export interface NewPassword {
  passwordHash: string;
  /** The password itself if it was generated, to be shown once. */
  generated: string | undefined;
}

/**
 * A new password for a user, checked against the policy and hashed. With `fromStdin` it is the whole standard input without one final
 * newline. On a terminal the user types it twice. Otherwise, and if the user types nothing, it is generated. Throws {@link Refusal}, and
 * ConfigError for an invalid PASSWORD_PEPPER_FILE.
 */
export async function takePassword(
  { config, desk }: Pick<Admin, 'config' | 'desk'>,
  user: { name: string; displayName: string },
  fromStdin: boolean,
): Promise<NewPassword> {
  const given = await readGiven(fromStdin, desk);
  const password = given ?? generatePassword(config.passwordMinLength);
  const policy = await createPasswordPolicy(config);
  const faults = await policy.check(password, { pointer: '', userName: user.name, displayName: user.displayName });
  if (faults.length > 0) {
    throw new Refusal(`the password is refused: ${faults.map((fault) => describeFault('en', fault).detail).join(' ')}`);
  }
  const hashing = { admission: new Admission(), peppers: await readPeppers(config.passwordPepperFile) };
  return { passwordHash: await hashPassword(hashing, password), generated: given === undefined ? password : undefined };
}

async function readGiven(fromStdin: boolean, desk: Desk): Promise<string | undefined> {
  if (!fromStdin) return desk.input.isTTY ? await promptForPassword(desk) : undefined;
  if (desk.input.isTTY) throw new Refusal('--password-stdin is for a password that comes through a pipe; leave it out to be asked', 2);
  const bytes = await buffer(desk.input);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new Refusal('the password on standard input is not UTF-8');
  }
}

/** Prompts twice; undefined if the user typed nothing. */
async function promptForPassword({ input, errors }: Desk): Promise<string | undefined> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: unseen, terminal: true, historySize: 0 });
  lines.on('SIGINT', () => lines.close());
  // Stores input that is typed, or pasted, before the prompt.
  const typed = lines[Symbol.asyncIterator]();
  const answer = async (prompt: string): Promise<string> => {
    errors.write(prompt);
    const line = await typed.next();
    errors.write('\n');
    if (line.done) throw new Refusal('cancelled');
    return line.value;
  };
  try {
    const first = await answer('New password (empty: generate one): ');
    if (first === '') return undefined;
    if ((await answer('The same again: ')) !== first) throw new Refusal('the two passwords differ');
    return first;
  } finally {
    lines.close();
  }
}
