/**
 * Where a new password comes from: a prompt nobody can read along with, standard input, or a generator. Never an argument, which
 * everybody on the machine could read in the list of processes (rule 87).
 */
import { buffer } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';
import { describeFault } from '../locales/describe.ts';
import { createPasswordGate } from '../password/gate.ts';
import { hashPassword } from '../password/hash.ts';
import { createPasswordPolicy } from '../password/policy.ts';
import type { Config } from '../config.ts';
import { generatePassword } from '../users/first-administrator.ts';
import { Refusal } from './output.ts';

export interface Terminal {
  input: Readable & { isTTY?: boolean };
  /** Where the prompts go: standard error, since standard output is for the answer. */
  output: Writable;
}

export interface NewPassword {
  passwordHash: string;
  /** The password itself when it was made up here, to be shown this once. */
  generated: string | undefined;
}

/**
 * A new password for a user, fit for the policy and hashed. With `fromStdin` it is all of standard input but one newline at its end; on a
 * terminal it is asked for twice; otherwise, and when nothing is typed, one is generated. Throws {@link Refusal}.
 */
export async function takePassword(
  config: Config,
  user: { name: string; displayName: string },
  fromStdin: boolean,
  terminal: Terminal,
): Promise<NewPassword> {
  const given = await readGiven(fromStdin, terminal);
  const password = given ?? generatePassword(config.passwordMinLength);
  const policy = await createPasswordPolicy(config);
  const faults = await policy.check(password, { pointer: '', userName: user.name, displayName: user.displayName });
  if (faults.length > 0) {
    throw new Refusal(`the password is refused: ${faults.map((fault) => describeFault('en', fault).detail).join(' ')}`);
  }
  return { passwordHash: await hashPassword(createPasswordGate(), password), generated: given === undefined ? password : undefined };
}

async function readGiven(fromStdin: boolean, terminal: Terminal): Promise<string | undefined> {
  if (!fromStdin) return terminal.input.isTTY ? await ask(terminal) : undefined;
  if (terminal.input.isTTY) throw new Refusal('--password-stdin is for a password that comes through a pipe; leave it out to be asked', 2);
  const bytes = await buffer(terminal.input);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new Refusal('the password on standard input is not UTF-8');
  }
}

/** Asks twice; undefined when nothing was typed. */
async function ask(terminal: Terminal): Promise<string | undefined> {
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: terminal.input, output: muted, terminal: true, historySize: 0 });
  const answer = (prompt: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const cancel = () => reject(new Refusal('cancelled'));
      lines.once('SIGINT', cancel);
      lines.once('close', cancel);
      terminal.output.write(prompt);
      lines.question('', (text) => {
        lines.off('SIGINT', cancel);
        lines.off('close', cancel);
        resolve(text);
      });
    });
  try {
    const first = await answer('New password (empty: generate one): ');
    terminal.output.write('\n');
    if (first === '') return undefined;
    if ((await answer('The same again: ')) !== first) throw new Refusal('the two passwords differ');
    return first;
  } finally {
    terminal.output.write('\n');
    lines.close();
  }
}
