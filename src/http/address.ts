/** Network addresses as text: which address a text names, which addresses count as one client, and which are of a list. Pure functions. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Stands for every text that names no IP address. All of them count as one client. */
const unknownAddress = 'unknown';

/**
 * The IP address that `text` names, as sockets and proxies write it: with or without a port, brackets (RFC 3986 section 3.2.2) and a zone id
 * (RFC 6874), which are left out. An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is the IPv4 address. `unknown` for any other text, and
 * for undefined, which is what the socket of a client that has hung up gives.
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
 * Which clients count as one: an IPv4 address as it is, an IPv6 address as its /64 (`2001:db8:0:1::/64`), since one client commands a whole one.
 * Takes any text that {@link cleanAddress} takes.
 */
export function addressGroup(text: string): string {
  const address = cleanAddress(text);
  if (!isIPv6(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/** Tells whether an address is in one of these CIDR ranges, which must be valid. No address is in an empty list. */
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

/** The IPv4 address that an IPv6 address maps, or the IPv6 address itself when it maps none. */
function unmapped(address: string): string {
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address;
}
