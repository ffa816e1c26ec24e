import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { findGuessable } from '../../src/credentials/guessable.ts';
import { WordIndex } from '../../src/credentials/word-index.ts';

const context = ['Entity Service', 'login.example.com', 'ada.lovelace', 'Augusta King'];
const reasons = (passwords: readonly string[]) =>
  passwords.map((password) => `${findGuessable(password, context) ?? 'accepted'}: ${password}`);
const all = (reason: string, passwords: readonly string[]) => passwords.map((password) => `${reason}: ${password}`);

describe('a password', () => {
  test('without a known pattern is accepted, with or without digits, signs and capitals (rule 32: no composition rules)', () => {
    const passwords = [
      'nine purple walruses waltz',
      'tangerine otter violin dusk',
      'correct donkey violin paperclip',
      'the weather in Oslo was lousy',
      'My dog ate 14 socks in May',
      'a much longer password 2026',
      'blue dragon love sunshine river',
      'kT9$wq2!xZ7&mN4',
      'Xq7hX9bTqP2mRt5v',
      '5f2b8c1e9a7d4036bb',
      'лошадь батарея скрепка верно',
      '八百万の神々が集う出雲の国で',
      'lovelace wrote the first program',
    ];
    expect(reasons(passwords)).toEqual(all('accepted', passwords));
  });

  test('of common words is refused, in any case, spelling and order of digits (rule 34: lists of long passwords)', () => {
    const passwords = [
      'passwordpassword',
      'Password1234567',
      'P@ssw0rdP@ssw0rd',
      'passwordpasswordxk',
      'p.a.s.s.w.o.r.d.1.2.3.4',
      'drowssapdrowssap',
      'PÄSSWÖRD-12345678',
      'Ｐａｓｓｗｏｒｄ1234567',
      'adminadminadmin',
      'Admin!Admin!Admin!',
      'Summer2026Summer2026',
      'welcome12345678',
      'letmeinletmein!!',
      'monkey-dragon-99',
      'iloveyouforever',
      'Passwort!Passwort!',
      'contraseña123456',
    ];
    expect(reasons(passwords)).toEqual(all('too-common', passwords));
  });

  test('of two common words is refused with up to six digits or three letters beside them, and accepted with more (rule 34)', () => {
    const passwords = ['elephantumbrella', 'elephantumbrella592847', 'elephantumbrella59xk', 'elephantumbrellaxkq'];
    expect(reasons(passwords)).toEqual(all('too-common', passwords));
    const longer = ['elephantumbrella5928471', 'elephantumbrella592xk', 'elephantumbrellaxkqv', 'elephantumbrellawindow'];
    expect(reasons(longer)).toEqual(all('accepted', longer));
  });

  test('that is a famous quotation is refused (rule 34)', () => {
    const passwords = [
      'correcthorsebatterystaple',
      'Correct Horse Battery Staple!',
      'c0rrect-h0rse-b@ttery-$taple1',
      'thequickbrownfox',
      'To be, or not to be: 2b!',
      'MayTheForceBeWithYou',
      'manchesterunited99',
      'Je t’aime pour toujours',
      'ich-liebe-dich-so-sehr',
    ];
    expect(reasons(passwords)).toEqual(all('too-common', passwords));
  });

  test('with two kinds of unusual signs between common words is refused; more kinds are part of the secret (rule 34)', () => {
    const separated = ['May%The^Force%Be^With%You', 'ich%liebe^dich%so^sehr'];
    expect(reasons(separated)).toEqual(all('too-common', separated));
    const secret = ['May%The^Force~Be%With^You', 'ich%liebe^dich~so%sehr'];
    expect(reasons(secret)).toEqual(all('accepted', secret));
  });

  test('of runs, dates and repetitions is refused (rule 34)', () => {
    const passwords = [
      'aaaaaaaaaaaaaaa',
      '012012012012012',
      'abcdefghijklmnop',
      'zyxwvutsrqponml',
      '7890123456789012',
      '456456456456456',
      'qwertzuiopasdfg',
      'azertyuiopqsdfg',
      'zxcvbnmasdfghjkl',
      'qwertyuiop123456789',
      '!@#$%^&*()_+123',
      '1985031219850312',
      '12.03.1985-01.01.2000',
      'xk7xk7xk7xk7xk7',
      '12wqzkwqzkwqzkwqzk',
      'wqzkwqzkwqzkwqzk12',
      'Иван-Иван-Иван-Иван',
      'aaaaabbbbbaaaaabbbbb',
      'abcdabcdabcd1234',
    ];
    expect(reasons(passwords)).toEqual(all('too-predictable', passwords));
  });

  test('of the shortest runs is refused: three consecutive or equal signs, four adjacent keys (rule 34)', () => {
    const passwords = ['fgh765uvw210mmm', 'fghmmmuvwppp', 'rfvbujmnqazs'];
    expect(reasons(passwords)).toEqual(all('too-predictable', passwords));
    const shorter = ['fg76uv21mmxe', 'rfvujmqazplk'];
    expect(reasons(shorter)).toEqual(all('accepted', shorter));
  });

  test('that repeats a longer secret counts as that secret once', () => {
    expect(findGuessable('hX7$kQ9!mZ2@vBhX7$kQ9!mZ2@vB', context)).toBeUndefined();
    expect(findGuessable('walruses-2026-walruses-2026', context)).toBeUndefined();
    expect(findGuessable('hX7$kQ9!hX7$kQ9!', context)).toBe('too-predictable');
  });

  test('with the names of the service, its host and the user is refused (rule 34: context words)', () => {
    const passwords = [
      'ada.lovelace2026',
      'LovelaceLovelace',
      '10ve1ace-10ve1ace',
      'ecalevolecalevol',
      'AugustaKing1815!',
      'entityservice2026',
      'Entity-Service-Password',
      'login.example.com',
      'example123456789',
      'lovelace+zk9qw4',
    ];
    expect(reasons(passwords)).toEqual(all('contains-context', passwords));
    expect(findGuessable('lovelace+zk9qw4', [])).toBeUndefined();
  });

  test('that merely contains a name, or a name of three letters, is accepted', () => {
    expect(findGuessable('seven lovelace engines hum', context)).toBeUndefined();
    expect(findGuessable('nevada walrus quilt', ['ada'])).toBeUndefined();
  });

  test('is not refused because of names that are empty, too short or without letters', () => {
    expect(findGuessable('nine purple walruses waltz', ['', '--', '127.0.0.1', 'ab'])).toBeUndefined();
  });
});

test('a character that expands to eighteen costs no more work than others and hides no other pattern (rule 34)', () => {
  const phrase = '\u{fdfa}';
  const letters = 'qzxvkjwpbghm';
  /** The result, and the number of searches in the lists as a measure of the work. */
  const searches = (password: string) => {
    const search = vi.spyOn(WordIndex.prototype, 'findAt');
    try {
      return { found: findGuessable(password, []), times: search.mock.calls.length };
    } finally {
      search.mockRestore();
    }
  };
  const ordinary = (length: number) => searches(Array.from({ length }, (_, index) => letters[(index * index) % 11]).join('')).times;
  for (const [password, found] of [
    [phrase.repeat(256), 'too-predictable'],
    [`${phrase.repeat(40)}password`, 'too-common'],
    [`${phrase.repeat(40)}vexed glyph jumbo`, undefined],
  ] as const) {
    const judged = searches(password);
    expect(judged.found).toBe(found);
    expect(judged.times).toBeLessThanOrEqual(ordinary(password.length));
  }
});

describe('the list of passwords', () => {
  const lines = readFileSync(new URL('../../src/credentials/lists/common-passwords.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const long = lines.filter((line) => line.length >= 15);

  test('has a thousand of at least 15 characters, and each is refused with its variants (rule 34)', () => {
    expect(long.length).toBeGreaterThan(1000);
    const variants = (line: string) => [
      line,
      line.toUpperCase(),
      line.replaceAll(' ', ''),
      line.replaceAll(' ', '_'),
      `${line}1`,
      `${line}!!`,
      `${line}2026`,
      `x${line}`,
    ];
    const accepted = long.flatMap(variants).filter((variant) => findGuessable(variant, []) === undefined);
    expect(accepted).toEqual([]);
  });

  test('has no duplicates', () => {
    const bare = lines.map((line) => line.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
    expect(bare.filter((text, index) => bare.indexOf(text) !== index)).toEqual([]);
  });
});
