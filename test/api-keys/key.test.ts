import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashKey, newKey, parseKey } from '../../src/api-keys/key.ts';

const id = 'abcdefghijkl';
const rest = `esk_${id}_${'0123456789'.repeat(4)}ABC`;

/** CRC-32 by its definition (reflected polynomial 0xEDB88320), bit by bit. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function base62(number: number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return number === 0 ? '' : base62(Math.trunc(number / 62)) + digits.charAt(number % 62);
}

describe('newKey', () => {
  it('makes keys of the documented form, which parseKey recognises (rule 57)', () => {
    for (let n = 0; n < 200; n++) {
      const { id, key } = newKey();
      expect(key).toMatch(/^esk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
      expect(key.slice(4, 16)).toBe(id);
      expect(parseKey(key)).toEqual({ id });
    }
  });

  it('ends in the CRC-32 of the rest, in base62 of six characters (rule 57)', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    for (let n = 0; n < 50; n++) {
      const { key } = newKey();
      expect(key.slice(-6)).toBe(base62(crc32(key.slice(0, -6))).padStart(6, '0'));
    }
  });

  it('never makes the same id or secret twice (rule 57)', () => {
    const made = Array.from({ length: 1000 }, newKey);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1000);
    expect(new Set(made.map(({ key }) => key.slice(17, 60))).size).toBe(1000);
  });

  it('makes all characters equally likely: bytes modulo 62 would make the first eight a quarter more likely (rule 57)', () => {
    const drawn = Array.from({ length: 5000 }, () => newKey().key.slice(17, 60)).join('');
    const counts = new Map<string, number>();
    for (const character of drawn) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const mean = drawn.length / 62;
    // Seven standard deviations: by chance it fails less than once in a billion runs. A bias of a quarter is twelve of them away.
    for (const [character, count] of counts) expect(Math.abs(count - mean), character).toBeLessThan(7 * Math.sqrt(mean));
  });
});

describe('parseKey', () => {
  it('recognises a key of another program by the same rule (rule 57)', () => {
    expect(parseKey(rest + base62(crc32(rest)).padStart(6, '0'))).toEqual({ id });
  });

  it('recognises a checksum with leading zeros (rule 57)', () => {
    const secrets = Array.from({ length: 5000 }, (_, n) => `esk_${id}_${String(n).padStart(43, '0')}`);
    const small = secrets.find((text) => crc32(text) < 62 ** 4);
    if (small === undefined) throw new Error('none of the candidates has a small checksum');
    const crc = base62(crc32(small)).padStart(6, '0');
    expect(crc).toMatch(/^00/);
    expect(parseKey(small + crc)).toEqual({ id });
  });

  it('refuses a key with any one character changed, without a query (rule 57)', () => {
    const { key } = newKey();
    expect(parseKey(key)).toBeDefined();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'x' ? 'y' : 'x';
      expect(parseKey(key.slice(0, at) + other + key.slice(at + 1)), `position ${at}`).toBeUndefined();
    }
  });

  it('refuses a key with two adjacent characters swapped or the case changed (rule 57)', () => {
    const key = rest + base62(crc32(rest)).padStart(6, '0');
    expect(parseKey(key.replace('abcdef', 'abcdfe'))).toBeUndefined();
    expect(parseKey(key.replace('ABC', 'abc'))).toBeUndefined();
    expect(parseKey(key.toUpperCase())).toBeUndefined();
  });

  it.each([
    ['nothing', () => ''],
    ['the prefix alone', () => 'esk_'],
    ['an id', () => id],
    ['a missing character', (key: string) => key.slice(0, -1)],
    ['an added character', (key: string) => `${key}0`],
    ['a leading space', (key: string) => ` ${key}`],
    ['a trailing space', (key: string) => `${key} `],
    ['a trailing line break', (key: string) => `${key}\n`],
    ['another prefix', (key: string) => key.replace('esk_', 'ask_')],
    ['no separator', (key: string) => key.replaceAll('_', '')],
    ['a megabyte', (key: string) => key.repeat(15_000)],
    ['a NUL', (key: string) => `${key}\u0000`],
  ])('refuses %s (rule 57)', (_, change) => {
    const { key } = newKey();
    expect(parseKey(key)).toBeDefined();
    expect(parseKey(change(key))).toBeUndefined();
  });
});

it('hashKey is the SHA-256 of the whole key, checksum included (rule 58)', () => {
  expect(hashKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  const { key } = newKey();
  expect(hashKey(key).equals(createHash('sha256').update(key).digest())).toBe(true);
  expect(hashKey(key).equals(hashKey(key.slice(0, -6)))).toBe(false);
});
