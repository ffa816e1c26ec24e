import { describe, expect, test } from 'vitest';
import { addressGroup } from '../../src/ops/address.ts';

describe('the address that attempts are counted by', () => {
  test('is an IPv4 address itself, however it is written (rule 40: mapping it into IPv6 is no second chance)', () => {
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

  test('is the text itself when it is no address, such as the path of a socket', () => {
    expect(addressGroup('/run/service.sock')).toBe('/run/service.sock');
    expect(addressGroup('')).toBe('');
  });
});
