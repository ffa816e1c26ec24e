import { expect, it } from 'vitest';
import { hashToken, isToken, newToken } from '../../src/sessions/token.ts';

it('a token is 192 random bits in base64url, 32 characters, and unique (rule 10)', () => {
  const tokens = Array.from({ length: 1000 }, newToken);
  for (const token of tokens) {
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(Buffer.from(token, 'base64url')).toHaveLength(24);
    expect(isToken(token)).toBe(true);
  }
  expect(new Set(tokens).size).toBe(1000);
});

it.each([
  ['nothing', ''],
  ['31 characters', 'a'.repeat(31)],
  ['33 characters', 'a'.repeat(33)],
  ['a character of plain base64', `${'a'.repeat(31)}+`],
  ['padding', `${'a'.repeat(31)}=`],
  ['a token with a signature', `${'a'.repeat(32)}.${'b'.repeat(43)}`],
  ['percent-encoding', `${'a'.repeat(29)}%20`],
  ['a trailing line break', `${'a'.repeat(32)}\n`],
  ['a line break inside', `${'a'.repeat(31)}\n`],
  ['a letter outside ASCII', `${'a'.repeat(31)}é`],
  ['a quotation', `"${'a'.repeat(30)}"`],
  ['a megabyte', 'a'.repeat(1_000_000)],
])('%s is no token, so the server sends no query (rule 10)', (_, text) => {
  expect(isToken('a'.repeat(32))).toBe(true);
  expect(isToken(text)).toBe(false);
});

it('the hash of a token is its SHA-256 and does not contain it (rule 11)', () => {
  expect(hashToken('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  const token = newToken();
  expect(hashToken(token)).toHaveLength(32);
  expect(hashToken(token).equals(hashToken(newToken()))).toBe(false);
  expect(hashToken(token).equals(Buffer.from(token))).toBe(false);
});
