/** The formats of the contract and of entity types. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAjv } from '../../src/contract/ajv.ts';
import { formatNames } from '../../src/contract/formats.ts';

const { formats } = createAjv();
const fits = (format: string, value: unknown) => createAjv().compile({ format })(value);

test('the formats are those of the list, and their patterns were read: each takes linear time (rule 70)', () => {
  expect(Object.keys(formats).toSorted()).toEqual(formatNames.toSorted());
  const patterns = Object.entries(formats)
    .flatMap(([name, format]) => (format instanceof RegExp ? [{ name, text: format.toString() }] : []))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(patterns.map(({ name }) => name).join(' ')).toBe(
    'duration email hostname ipv4 ipv6 json-pointer json-pointer-uri-fragment relative-json-pointer uri-reference uri-template uuid',
  );
  // Read the patterns again if this has changed: two loops in a row may not take the same characters.
  const digest = createHash('sha256').update(patterns.map(({ text }) => text).join('\n'));
  expect(digest.digest('hex').slice(0, 16)).toBe('e1c55d55bfc9960f');
});

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

test('date and date-time are those of filters', () => {
  const good = ['2026-11-20T10:00:00Z', '0001-01-01t00:00:00.123456789-15:59', '2026-12-31T23:59:60Z'];
  const bad = ['0000-01-01T00:00:00Z', '2026-11-20T10:00:00+16:00', '2026-11-20T10:00:00+1500', '2026-11-20T10:00:00.1234567890Z'];
  expect(good.map((value) => fits('date-time', value))).not.toContain(false);
  expect([...bad, '2026-02-30T10:00:00Z'].map((value) => fits('date-time', value))).not.toContain(true);
  expect([fits('date', '0001-01-01'), fits('date', '0000-01-01')]).toEqual([true, false]);
  const since = createAjv().compile({ format: 'date', formatMinimum: '2026-01-01' });
  expect([since('2026-01-01'), since('2025-12-31')]).toEqual([true, false]);
});
