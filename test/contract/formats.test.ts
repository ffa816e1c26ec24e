/** The formats of the contract and of entity types. */
import { expect, test } from 'vitest';
import { formats } from '../../src/contract/formats.ts';
import { compileSchema } from '../../src/json-schema/validator.ts';

const validatorOf = (schema: object) => compileSchema(schema, { formats, compilePattern: () => undefined }).accepts;
const fits = (format: string, value: unknown) => validatorOf({ format })(value);

test('url is a URL of http, https or ftp with a public host', () => {
  const good = [
    'http://a.co',
    'https://ada:pw@example.com:8080/a?b#c',
    'ftp://8.8.8.8/',
    'HTTP://müller.example',
    'http://a@b@example.com',
  ];
  const bad = ['http://localhost', 'http://127.0.0.1/', 'http://192.168.1.1', 'mailto:ada@example.com', 'http://a.co?b', 'http://a.co/ '];
  expect(good.map((value) => fits('url', value))).not.toContain(false);
  expect([...bad, `http://${'a:'.repeat(1_000)} `].map((value) => fits('url', value))).not.toContain(true);
});

test('regex is a regular expression of ECMA 262, also where a class occurs again', () => {
  const good = ['[\\p{L}]'.repeat(4), '\\p{L}{3}\\p{L}*[^\\]\\p{L}]+', '\\d[[a]\\d', '\\\\p\\{Q', '(?<a>\\d)\\k<a>\\d'];
  const bad = ['\\d\\d(?<\\d>)', '[a][a]\\c[a]', '\\p{L}[\\p{L}-a]', '\\p{Lx}', '\\d\\d**', '\\d\\d{2,1}', '\\p{L}\\p{L}\\p{L', '[a][a]]'];
  expect(good.map((value) => fits('regex', value))).not.toContain(false);
  expect(bad.map((value) => fits('regex', value))).not.toContain(true);
});

test('date and date-time are those of filters', () => {
  const good = ['2026-11-20T10:00:00Z', '0001-01-01t00:00:00.123456789-15:59', '2026-12-31T23:59:60Z'];
  const bad = ['0000-01-01T00:00:00Z', '2026-11-20T10:00:00+16:00', '2026-11-20T10:00:00+1500', '2026-11-20T10:00:00.1234567890Z'];
  expect(good.map((value) => fits('date-time', value))).not.toContain(false);
  expect([...bad, '2026-02-30T10:00:00Z'].map((value) => fits('date-time', value))).not.toContain(true);
  expect([fits('date', '0001-01-01'), fits('date', '0000-01-01')]).toEqual([true, false]);
  const since = validatorOf({ format: 'date', formatMinimum: '2026-01-01' });
  expect([since('2026-01-01'), since('2025-12-31')]).toEqual([true, false]);
});

test('time is that of a date-time with any offset of a day, and iso-time and iso-date-time may lack the offset', () => {
  const times = ['10:00:00Z', '10:00:00.123456789z', '00:00:00+15:59', '23:59:60Z', '22:59:60-01:00', '00:29:60.5+00:30'];
  expect(times.map((value) => [fits('time', value), fits('date-time', `2026-11-20T${value}`)])).toEqual(times.map(() => [true, true]));
  expect(times.map((value) => [fits('iso-time', value), fits('iso-date-time', `2026-11-20 ${value}`)])).toEqual(
    times.map(() => [true, true]),
  );
  const local = ['10:00:00', '10:00:00.5'];
  expect(local.map((value) => [fits('time', value), fits('date-time', `2026-11-20T${value}`)])).toEqual(local.map(() => [false, false]));
  expect(local.map((value) => [fits('iso-time', value), fits('iso-date-time', `2026-11-20T${value}`)])).toEqual(
    local.map(() => [true, true]),
  );
  const wrong = [
    '24:00:00Z',
    '10:60:00Z',
    '10:00:61Z',
    '10:00Z',
    '1:00:00Z',
    '10:00:00+1500',
    '10:00:00+01',
    '10:00:00+24:00',
    '10:00:00+01:60',
    '12:34:60Z',
    '23:59:60+01:00',
    '22:59:60+01:00',
    '23:58:60Z',
  ];
  for (const value of [...wrong, '10:00:00.Z', '10:00:00.1234567890Z', '10:00:00Z ', '10:00:00Z\n', 'T10:00:00Z', '']) {
    expect([value, fits('time', value), fits('iso-time', value)]).toEqual([value, false, false]);
    expect([value, fits('date-time', `2026-11-20T${value}`), fits('iso-date-time', `2026-11-20T${value}`)]).toEqual([value, false, false]);
  }
  for (const value of ['0000-01-01T10:00:00', '2026-02-30T10:00:00', '2026-11-20\n10:00:00', '2026-11-20x10:00:00'])
    expect([value, fits('iso-date-time', value)]).toEqual([value, false]);
  for (const value of ['10:00:00+16:00', '23:58:60+23:59', '00:00:60-23:59']) {
    expect([value, fits('time', value), fits('iso-time', value)]).toEqual([value, true, true]);
    expect([value, fits('date-time', `2026-11-20T${value}`), fits('iso-date-time', `2026-11-20T${value}`)]).toEqual([value, false, false]);
  }
  const leaps = ['23:59:60', '12:34:60'].map((value) => [fits('iso-time', value), fits('iso-date-time', `2026-12-31 ${value}`)]);
  expect(leaps).toEqual([
    [true, true],
    [false, false],
  ]);
  const since = validatorOf({ format: 'time', formatMinimum: '10:00:00+01:00' });
  expect([since('09:00:00Z'), since('10:00:00+02:00')]).toEqual([true, false]);
});

test('byte is padded base64 of RFC 4648, and a long text takes linear time (rule 70)', () => {
  const good = ['', 'Zg==', 'Zm8=', 'Zm9v', 'Zm9vYg==', '+/+/', Buffer.from(Array.from({ length: 256 }, (_, n) => n)).toString('base64')];
  expect(good.filter((value) => !fits('byte', value))).toEqual([]);
  const bad = [
    'Zg',
    'Zg=',
    'Zg===',
    'Zm8',
    'Zm9vY',
    '=',
    '====',
    'Zh==',
    'Zm9=',
    'Zg==Zg==',
    'Zm9v\n',
    '#\nZm9v',
    '-_-_',
    'Zm 9v',
    'Zm9v Zm8',
  ];
  expect(bad.filter((value) => fits('byte', value))).toEqual([]);
  const million = 'A'.repeat(1_000_000);
  expect([fits('byte', million), fits('byte', `${million.slice(1)}#`)]).toEqual([true, false]);
});

test('a long text of each form takes linear time for each format (rule 70)', () => {
  const parts = ['a', 'a.', 'a-', '1', '%41', 'a/', '~0', '{a}', 'a:', '\\"', 'xn--a', 'é', 'a@', ' '];
  for (const [name, { kind, fits: isFit }] of formats)
    for (const begin of kind === 'string' ? ['', 'http://', '"', 'a@[x:'] : [])
      // Quadratic time would be minutes for each of these texts.
      for (const part of parts)
        expect([name, part, typeof isFit(`${begin}${part.repeat(200_000 / part.length)}!` as never)]).toEqual([name, part, 'boolean']);
}, 60_000);
