/** Which clients count as one when attempts or requests are counted by address. It refuses to know how the address was found. */
import { isIPv6 } from 'node:net';

/**
 * An IPv4 address as it is, an IPv6 address as its /64 (`2001:db8:0:1::/64`), since one client commands a whole one; an IPv4-mapped IPv6
 * address is the IPv4 address. Any other text, such as the path of a socket, stands for itself.
 */
export function addressGroup(address: string): string {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  const groups = expand(bare);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of an IPv6 address. The URL parser brings every spelling into one, with at most one `::` and no dots. */
function expand(address: string): number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
