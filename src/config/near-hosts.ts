/** Hosts that are near: this machine, and the private network around it. The host is that of a URL, with an IPv6 address in brackets. */
import { BlockList, isIP } from 'node:net';

const privateNetworks = new BlockList();
// RFC 1918, RFC 3927 (link-local), RFC 4193 (unique local) and RFC 4291 section 2.5.6 (link-local).
privateNetworks.addSubnet('10.0.0.0', 8);
privateNetworks.addSubnet('172.16.0.0', 12);
privateNetworks.addSubnet('192.168.0.0', 16);
privateNetworks.addSubnet('169.254.0.0', 16);
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

/** Whether the host is this machine. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether the host is an address that the Internet does not route. A name is none: it can lead to another address tomorrow. */
export function isPrivateAddress({ hostname }: Pick<URL, 'hostname'>): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  return family !== 0 && privateNetworks.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
