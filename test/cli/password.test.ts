import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { takePassword } from '../../src/cli/password.ts';
import { readConfig } from '../../src/config/settings.ts';
import { Admission } from '../../src/admission/admission.ts';
import { verifyPassword } from '../../src/credentials/hash.ts';

const good = 'a mild horse battery staple';
const config = readConfig({});
const hashing = { admission: new Admission(), peppers: [] };

/** Reads a password from a terminal that types the next of `answers` at each prompt. */
async function typed(answers: string[], fromStdin = false) {
  const [input, output, errors] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough(), new PassThrough()];
  const shown: string[] = [];
  errors.on('data', (chunk: Buffer) => {
    shown.push(chunk.toString());
    if (chunk.toString().endsWith(': ')) input.write(answers.shift() ?? '\u0004');
  });
  const desk = { input, output, errors, environment: () => ({}), exitCode: 0 as const };
  try {
    return { taken: await takePassword({ config, desk }, { name: 'ada', displayName: 'Ada' }, fromStdin), shown: shown.join('') };
  } finally {
    output.end();
    expect(await text(output)).toBe('');
    expect(shown.join('')).not.toContain(good);
  }
}

describe('the prompt for a new password', () => {
  test('asks twice and shows no typed character (rule 87)', async () => {
    const { taken, shown } = await typed([`${good}\r`, `${good}\r`]);
    expect(taken.generated).toBeUndefined();
    expect(await verifyPassword(hashing, taken.passwordHash, good)).toMatchObject({ matches: true });
    expect(shown).toBe('New password (empty: generate one): \nThe same again: \n');
  });

  test('generates a password for an empty line', async () => {
    const { taken } = await typed(['\r']);
    expect(await verifyPassword(hashing, taken.passwordHash, taken.generated ?? '')).toMatchObject({ matches: true });
  });

  test('refuses a password that is not repeated exactly, breaks the policy, or is not finished', async () => {
    await expect(typed([`${good}\r`, `${good}!\r`])).rejects.toMatchObject({ message: 'the two passwords differ', exitCode: 1 });
    await expect(typed(['short\r', 'short\r'])).rejects.toThrow('the password is refused');
    await expect(typed(['abc\u0003'])).rejects.toThrow('cancelled');
    await expect(typed([`${good}\r`, '\u0004'])).rejects.toThrow('cancelled');
  });

  test('is not used with --password-stdin, because the terminal would show the typing', async () => {
    await expect(typed([], true)).rejects.toMatchObject({ exitCode: 2 });
  });
});
