import { describe, expect, test } from 'vitest';
import { addressGroup, addressIn, cleanAddress } from '../../src/network/address.ts';

describe('the address for counting attempts', () => {
  test('is an IPv4 address in any notation (rule 40: the form mapped into IPv6 is not counted separately)', () => {
    for (const written of ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1']) {
      expect(addressGroup(written)).toBe('192.0.2.1');
    }
    expect(addressGroup('192.0.2.2')).toBe('192.0.2.2');
  });

  test('is the /64 of an IPv6 address (rule 40: a client cannot change addresses within its network)', () => {
    for (const written of ['2001:db8:0:1::', '2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:0db8:0000:0001::1', '2001:db8::1:0:0:0:9']) {
      expect(addressGroup(written)).toBe('2001:db8:0:1::/64');
    }
    expect(addressGroup('2001:db8:0:2::1')).toBe('2001:db8:0:2::/64');
    expect(addressGroup('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
    expect(addressGroup('::1')).toBe('0:0:0:0::/64');
    expect(addressGroup('::')).toBe('0:0:0:0::/64');
    expect(addressGroup('1::')).toBe('1:0:0:0::/64');
  });

  test('ignores the port, brackets and zone id that a proxy writes (rule 40)', () => {
    for (const written of ['192.0.2.1:443', '[::ffff:192.0.2.1]:443', '[::ffff:192.0.2.1]'])
      expect(addressGroup(written)).toBe('192.0.2.1');
    for (const written of ['[2001:db8:0:1::2]:443', '[2001:db8:0:1::2]', '2001:db8:0:1::2%eth0', '[2001:db8:0:1::2%25eth0]:443']) {
      expect(addressGroup(written)).toBe('2001:db8:0:1::/64');
    }
  });

  test('is the same for all texts without an address (rule 40: invented texts are not counted separately)', () => {
    const texts = [
      '',
      'unknown',
      '_hidden',
      '192.0.2.1:x',
      '192.0.2.1:999999',
      '192.0.2.256:80',
      '1.2.3:80',
      '[192.0.2.1]:80',
      '[]:80',
      ':80',
    ];
    for (const text of [...texts, '2001:db8::1::2', '[2001:db8::1', '192.0.2.1, 192.0.2.2', 'a'.repeat(9_000), '/run/service.sock']) {
      expect(addressGroup(text), text).toBe('unknown');
    }
    expect(cleanAddress(undefined)).toBe('unknown');
  });
});

describe('the address in the log and the audit trail', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:50412', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[2001:db8::7]:50412', '2001:db8::7'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['::ffff:1:2:3', '::ffff:1:2:3'],
    ['<script>', 'unknown'],
  ])('of %s is %s', (written, shown) => {
    expect(cleanAddress(written)).toBe(shown);
  });
});

test('an address is in a list of ranges in any notation, and no text is in an empty list (rule 83)', () => {
  const isIn = addressIn(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', 'fe80::1']);
  for (const inside of ['10.1.2.3', '10.1.2.3:80', '::ffff:10.1.2.3', '192.0.2.1', '[2001:db8::9]:80', 'fe80::1%eth0']) {
    expect(isIn(inside), inside).toBe(true);
  }
  for (const outside of ['11.1.2.3', '192.0.2.2', '2001:db9::1', 'fe80::2', 'unknown', '', undefined])
    expect(isIn(outside), outside).toBe(false);
  expect(addressIn([])('10.1.2.3')).toBe(false);
});
