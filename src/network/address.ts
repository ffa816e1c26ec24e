/**
 * Network addresses as text: the address in a text, the addresses that count as one client, and the addresses in a list. Pure functions.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Stands for every text without an IP address. All of them count as one client. */
const unknownAddress = 'unknown';

/**
 * The IP address in `text` as sockets and proxies write it. A port, brackets (RFC 3986 section 3.2.2) and a zone id (RFC 6874) are left
 * out. An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is the IPv4 address. `unknown` for any other text, and for undefined, which
 * the socket of a client that has hung up returns.
 */
export function cleanAddress(text: string | undefined): string {
  if (text === undefined) return unknownAddress;
  if (isIPv4(text)) return text;
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  if (beforePort !== undefined) return isIPv4(beforePort) ? beforePort : unknownAddress;
  const [address = ''] = (inBrackets ?? text).split('%');
  if (!isIPv6(address)) return unknownAddress;
  return /^[0:]+:ffff:/i.test(address) ? unmapped(address) : address;
}

/**
 * The group that counts as one client. An IPv4 address is its own group. The group of an IPv6 address is its /64 (`2001:db8:0:1::/64`),
 * because one client usually has a whole /64. Accepts the same texts as {@link cleanAddress}.
 */
export function addressGroup(text: string): string {
  const address = cleanAddress(text);
  if (!isIPv6(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/**
 * Returns a function that checks whether an address is in one of these CIDR ranges, which must be valid. No address is in an empty list.
 */
export function addressIn(ranges: readonly string[]): (text: string | undefined) => boolean {
  if (ranges.length === 0) return () => false;
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = familyOf(address);
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return (text) => {
    const address = cleanAddress(text);
    return address !== unknownAddress && list.check(address, familyOf(address));
  };
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** The IPv4 address of an IPv4-mapped IPv6 address, or else the IPv6 address itself. */
function unmapped(address: string): string {
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address;
}
