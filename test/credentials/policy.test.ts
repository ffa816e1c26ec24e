import { createHash } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/settings.ts';
import { BreachedPasswords } from '../../src/credentials/breached.ts';
import { createPasswordPolicy, type PasswordPolicy } from '../../src/credentials/policy.ts';

const settings = { passwordMinLength: 15, passwordBlocklistFile: undefined, publicUrl: new URL('https://login.example.com') };
const ada = { pointer: '/set-password', userName: 'ada', displayName: 'Ada Lovelace' };
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex').toUpperCase();

let policy: PasswordPolicy;
let directory: string;
beforeAll(async () => {
  policy = await createPasswordPolicy(settings);
  directory = await mkdtemp(join(tmpdir(), 'entity-service-policy-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

let files = 0;
async function file(text: string): Promise<string> {
  const path = join(directory, `list-${(files += 1)}`);
  await writeFile(path, text);
  return path;
}

/** Text of this length that breaks no other rule. */
const noise = (length: number) => Array.from({ length }, (_, index) => sha1(String(index))[0]).join('');

const fault = (code: string, values?: Record<string, number>) => [{ pointer: '/set-password', code, ...(values && { values }) }];

describe('a new password', () => {
  test('422 — has at least 15 code points, counted in the normal form and not in bytes (rules 32 and 33)', async () => {
    expect(await policy.check(noise(15), ada)).toEqual([]);
    expect(await policy.check(noise(14), ada)).toMatchObject(fault('too-short', { minimum: 15 }));
    expect(await policy.check('', ada)).toMatchObject(fault('too-short', { minimum: 15 }));
    expect(await policy.check(`${noise(14)}😀`, ada)).toEqual([]);
    // Two code points that compose to one.
    expect(await policy.check(`${noise(13)}e\u{301}`, ada)).toMatchObject(fault('too-short', { minimum: 15 }));
    expect(await policy.check(`${noise(14)}e\u{301}`, ada)).toEqual([]);
  });

  test('422 — has at most 256 code points of any size, and 64 are always accepted (rule 32)', async () => {
    for (const length of [64, 65, 255, 256]) expect(await policy.check(noise(length), ada)).toEqual([]);
    const wide = Array.from({ length: 256 }, (_, index) => String.fromCodePoint(0x1f300 + ((index * 37) % 256))).join('');
    expect(Buffer.byteLength(wide)).toBe(1024);
    expect(await policy.check(wide, ada)).toEqual([]);
    expect(await policy.check(noise(257), ada)).toMatchObject(fault('too-long', { maximum: 256 }));
    expect(await policy.check(`${wide}x`, ada)).toMatchObject(fault('too-long', { maximum: 256 }));
  });

  test('422 — counts its spaces, including those at the ends (rule 32: nothing is trimmed)', async () => {
    expect(await policy.check(` ${noise(13)} `, ada)).toEqual([]);
    expect(await policy.check(`  ${noise(11)} `, ada)).toMatchObject(fault('too-short', { minimum: 15 }));
  });

  test('400 — has no lone surrogate (rule 33)', async () => {
    expect(await policy.check(`${noise(15)}\u{d800}`, ada)).toEqual(fault('invalid-encoding'));
  });

  test('422 — is refused with the reason, at its field (rule 34)', async () => {
    expect(await policy.check('passwordpassword', ada)).toEqual(fault('too-common'));
    expect(await policy.check('abcdefghijklmnop', { ...ada, pointer: '/password' })).toEqual([
      { pointer: '/password', code: 'too-predictable' },
    ]);
    expect(await policy.check('lovelace-login-1', ada)).toEqual(fault('contains-context'));
    expect(await policy.check('lovelace-walrus-quilt', { ...ada, userName: 'grace', displayName: 'Grace Hopper' })).toEqual([]);
  });

  test('422 — has the minimum length that the operator sets (rule 32)', async () => {
    const short = await createPasswordPolicy({ ...settings, passwordMinLength: 8 });
    expect(await short.check(noise(8), ada)).toEqual([]);
    expect(await short.check(noise(7), ada)).toMatchObject(fault('too-short', { minimum: 8 }));
    expect(await short.check('passw0rd', ada)).toEqual(fault('too-common'));
  });
});

describe('the file of breached passwords', () => {
  const passwords = Array.from({ length: 5000 }, (_, index) => `breached walrus ${index}`);
  const lines = passwords.map((password) => sha1(password)).sort();
  const ends = new Set([...lines.slice(0, 3), ...lines.slice(-3)]);
  const tried = passwords.filter((password, index) => index % 20 === 0 || ends.has(sha1(password)));

  test('422 — contains passwords that are refused, the first and the last line included (rule 34)', async () => {
    // Counts of different lengths make lines of different lengths, as in the published file.
    const published = lines.map((hash, index) => `${hash}:${(index * 7919) % 10_007}`).join('\r\n');
    for (const text of [published, `${published}\r\n`, lines.join('\n'), `${lines.join('\n')}\n`]) {
      const breached = new BreachedPasswords(await file(text));
      const missed: string[] = [];
      for (const password of tried) if (!(await breached.has(password))) missed.push(password);
      expect(missed).toEqual([]);
      for (let index = 0; index < 500; index += 1) expect(await breached.has(`other ${index}`)).toBe(false);
    }
  });

  test('422 — is searched for the normal form, and reported beside other reasons (rules 33 and 34)', async () => {
    const hashes = ['crème brûlée for nine walruses', 'passwordpassword'].map((password) => sha1(password.normalize('NFC'))).sort();
    const strict = await createPasswordPolicy({ ...settings, passwordBlocklistFile: await file(hashes.join('\n')) });
    expect(await strict.check('crème brûlée for nine walruses'.normalize('NFD'), ada)).toEqual(fault('breached'));
    expect(await strict.check('passwordpassword', ada)).toEqual([...fault('too-common'), ...fault('breached')]);
    expect(await strict.check('crème brûlée for ten walruses', ada)).toEqual([]);
  });

  test('503 — makes the check fail when it is no longer readable (rule 3)', async () => {
    const path = await file(lines.join('\n'));
    const strict = await createPasswordPolicy({ ...settings, passwordBlocklistFile: path });
    expect(await strict.check(noise(20), ada)).toEqual([]);
    await rm(path);
    await expect(strict.check(noise(20), ada)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  });

  test('422 — is replaced when the operator replaces the file (rule 34)', async () => {
    const path = await file(sha1('nine breached walruses'));
    const strict = await createPasswordPolicy({ ...settings, passwordBlocklistFile: path });
    expect(await strict.check('ten breached walruses', ada)).toEqual([]);
    await rename(await file(sha1('ten breached walruses')), path);
    expect(await strict.check('ten breached walruses', ada)).toEqual(fault('breached'));
  });

  test('may have a single line', async () => {
    const breached = new BreachedPasswords(await file(sha1('one')));
    expect(await breached.has('one')).toBe(true);
    expect(await breached.has('two')).toBe(false);
  });

  test('stops the start with one line, naming setting and file, if it is missing, not a file or not sorted', async () => {
    const wrong = {
      'no such file': join(directory, 'missing'),
      'illegal operation on a directory': directory,
      'not a list of breached passwords': await file('password\nletmein\n'),
      'not a list of breached': await file(''),
      'not a list': await file(lines.map((hash) => hash.toLowerCase()).join('\n')),
      'not a list of breached passwords (lines of': await file(lines.map((hash) => `{SHA}${hash}`).join('\n')),
      'not in ascending order': await file(lines.toReversed().join('\n')),
    };
    for (const [reason, path] of Object.entries(wrong)) {
      const start = createPasswordPolicy({ ...settings, passwordBlocklistFile: path });
      await expect(start).rejects.toThrow(ConfigError);
      await expect(start).rejects.toThrow(`PASSWORD_BLOCKLIST_FILE: ${path}: `);
      await expect(start).rejects.toThrow(reason);
      await expect(start).rejects.not.toThrow('\n');
    }
  });
});
