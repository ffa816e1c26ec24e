import { beforeAll, describe, expect, test } from 'vitest';
import { argon2i, argon2id, hash } from 'argon2';
import { Admission, type JobOrigin } from '../../src/admission/admission.ts';
import type { ClassName } from '../../src/admission/classes.ts';
import { hashPassword, verifyPassword } from '../../src/credentials/hash.ts';

const hashing = { admission: new Admission(), peppers: [] };
const password = 'nine purple walruses waltz';
let stored = '';

beforeAll(async () => {
  stored = await hashPassword(hashing, password);
});

/** Counts the hashes that are admitted. */
class CountingAdmission extends Admission {
  jobs = 0;
  override run<T>(name: ClassName, origin: JobOrigin, job: () => Promise<T>): Promise<T> {
    this.jobs += 1;
    return super.run(name, origin, job);
  }
}

/** The stored hash with other parameters. */
const poisoned = (from: string, to: string) => {
  expect(stored).toContain(from);
  return stored.replace(from, to);
};

const refused = { matches: false, outdated: false, unusable: 'it is not argon2id within bounds' };

describe('a password hash', () => {
  test('is argon2id with 19 MiB, two passes, one lane, its own 16-byte salt and 32 bytes of result (rule 36)', async () => {
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await hashPassword(hashing, password)).not.toBe(stored);
  });

  test('matches its password and no other (rule 32: nothing trimmed, folded or truncated)', async () => {
    expect(await verifyPassword(hashing, stored, password)).toEqual({ matches: true, outdated: false, unusable: undefined });
    for (const other of ['', ` ${password}`, `${password} `, password.toUpperCase(), password.slice(0, -1), `${password}\u{0}`]) {
      expect((await verifyPassword(hashing, stored, other)).matches, JSON.stringify(other)).toBe(false);
    }
    const long = '0123456789abcdef'.repeat(16);
    const storedLong = await hashPassword(hashing, long);
    expect((await verifyPassword(hashing, storedLong, long)).matches).toBe(true);
    expect((await verifyPassword(hashing, storedLong, `${long.slice(0, -1)}0`)).matches).toBe(false);
  });

  test('matches the same characters in any composition, and no others (rule 33)', async () => {
    const composed = await hashPassword(hashing, 'crème brûlée für Zoë');
    expect((await verifyPassword(hashing, composed, 'crème brûlée für Zoë'.normalize('NFD'))).matches).toBe(true);
    expect((await verifyPassword(hashing, composed, 'creme brulee fur Zoe')).matches).toBe(false);
    const wide = await hashPassword(hashing, 'ﬁne ｗｉｄｅ words');
    expect((await verifyPassword(hashing, wide, 'fine wide words')).matches).toBe(false);
  });

  test('400 — is not computed for a lone surrogate, nor matched by one (rule 33)', async () => {
    await expect(hashPassword(hashing, `\u{d800}${password}`)).rejects.toMatchObject({ code: 'malformed-request' });
    const replaced = await hashPassword(hashing, `\u{fffd}${password}`);
    expect((await verifyPassword(hashing, replaced, `\u{fffd}${password}`)).matches).toBe(true);
    expect((await verifyPassword(hashing, replaced, `\u{d800}${password}`)).matches).toBe(false);
  });

  test('is outdated if its parameters are below the present ones, which only the right password reveals (rule 36)', async () => {
    const weak = await hash(password, { type: argon2id, memoryCost: 4096, timeCost: 2, parallelism: 1 });
    expect(await verifyPassword(hashing, weak, password)).toEqual({ matches: true, outdated: true, unusable: undefined });
    expect(await verifyPassword(hashing, weak, 'another')).toEqual({ matches: false, outdated: false, unusable: undefined });
    const strong = await hash(password, { type: argon2id, memoryCost: 32_768, timeCost: 3, parallelism: 2 });
    expect(await verifyPassword(hashing, strong, password)).toEqual({ matches: true, outdated: false, unusable: undefined });
  });

  test('is read with its parameters in any order, each given once (rule 37)', async () => {
    const [m, t, p] = ['m=19456', 't=2', 'p=1'];
    expect((await verifyPassword(hashing, poisoned(`${m},${t},${p}`, `${p},${m},${t}`), password)).matches).toBe(true);
    expect((await verifyPassword(hashing, poisoned(`${m},${t},${p}`, `${m},${t},${t}`), password)).unusable).toBeDefined();
  });
});

describe('a foreign stored hash', () => {
  test('is refused without computing it if its parameters are out of bounds (rule 37: a poisoned row cannot exhaust memory)', async () => {
    for (const [from, to] of [
      ['m=19456', 'm=262145'],
      ['m=19456', 'm=4294967295'],
      ['t=2', 't=11'],
      ['p=1', 'p=5'],
      ['p=1', 'p=0'],
      ['m=19456', 'm=4'],
    ] as const) {
      const one = new CountingAdmission();
      expect(await verifyPassword({ admission: one, peppers: [] }, poisoned(from, to), password), to).toEqual(refused);
      expect(one.jobs).toBe(1);
    }
    expect((await verifyPassword(hashing, poisoned('t=2', 't=10'), password)).unusable).toBeUndefined();
  });

  test('of another algorithm, or no hash at all, is refused after the time of the dummy (rule 37)', async () => {
    const other = await hash(password, { type: argon2i, memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    for (const foreign of [
      other,
      '',
      'x',
      password,
      '$2b$12$abcdefghijklmnopqrstuv',
      `${stored}$`,
      `${stored}\n`,
      poisoned('v=19', 'v=16'),
    ]) {
      const one = new CountingAdmission();
      expect(await verifyPassword({ admission: one, peppers: [] }, foreign, password), foreign).toEqual(refused);
      expect(one.jobs).toBe(1);
    }
  });
});

describe('a missing stored hash', () => {
  test('never matches and costs one verification like any other (rule 42: the answer does not reveal which names exist)', async () => {
    const one = new CountingAdmission();
    expect(await verifyPassword({ admission: one, peppers: [] }, undefined, password)).toEqual({
      matches: false,
      outdated: false,
      unusable: undefined,
    });
    expect(await verifyPassword({ admission: one, peppers: [] }, undefined, '')).toEqual({
      matches: false,
      outdated: false,
      unusable: undefined,
    });
    expect(one.jobs).toBe(2);
  });

  test('takes as long as a stored one (rule 42)', async () => {
    const one = new Admission({ cores: 1 });
    const median = async (target: string | undefined) => {
      const times: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const start = process.cpuUsage();
        await verifyPassword({ admission: one, peppers: [] }, target, 'wrong');
        const { user, system } = process.cpuUsage(start);
        times.push(user + system);
      }
      return times.sort((a, b) => a - b)[4] ?? 0;
    };
    const [known, unknown] = [await median(stored), await median(undefined)];
    // Processor time, because other work shares the processor. Without the verification the factor would be thousands.
    expect(unknown).toBeGreaterThan(known / 4);
    expect(unknown).toBeLessThan(known * 4);
  });
});
