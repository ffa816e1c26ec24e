/** The settings of the network: HOST, PUBLIC_URL, HTTP_ON_PRIVATE_NETWORK, TRUSTED_ORIGINS, TRUST_PROXY and CONNECTIONS_PER_ADDRESS. */
import { BlockList, isIP } from 'node:net';
import { isLoopback, isPrivateAddress } from './near-hosts.ts';
import { baseUrlOf } from './public-url.ts';
import type { Reader } from './reader.ts';

/** Open connections of a process. Each takes about 40 KiB. */
export const processConnections = 4_096;

/** Segments of characters that every proxy and client writes in the same way (RFC 3986 section 2.3). */
const basePath = /^(\/[\w.~-]+)*\/?$/;
const privateExample = 'http://192.168.1.20:3000';

/** A host name (RFC 1123 section 2.1), also with the underscores of container names. Its last label begins with no digit: `127.0.0.256` is a misspelt address. */
const hostName = /^([a-z\d_]([\w-]*[a-z\d_])?\.)*[a-z_]([\w-]*[a-z\d_])?\.?$/i;

/** The end of a problem: the value, unless it may hold a password. */
const butNot = (text: string): string => (text.includes('@') ? '' : `, not "${text}"`);

/** HOST: an address or a host name, without a port. What is wrong is added to `read.problems`. */
export function readHost(read: Reader): string {
  const host = read.text('HOST', '127.0.0.1');
  if (isIP(host) === 0 && !hostName.test(host)) {
    read.problems.push(`HOST must be an address such as 127.0.0.1, ::1 or 0.0.0.0, or a host name, without a port${butNot(host)}`);
  }
  return host;
}

/** DOCUMENTATION_URL: undefined if it is not set, or wrong; then a problem is added to `read.problems`. */
export function readDocumentationUrl(read: Reader): string | undefined {
  const text = read.text('DOCUMENTATION_URL');
  if (!text) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).href;
  read.problems.push(`DOCUMENTATION_URL must be an address such as https://docs.example.com/, not "${text}"`);
  return undefined;
}

/**
 * PUBLIC_URL. Its path ends with a slash; another path than `/` is the base path behind which a proxy serves this service. What is wrong is added to
 * `read.problems`.
 */
export function readPublicUrl(read: Reader, port: number, production: boolean): URL {
  const fallback = `http://localhost:${port}`;
  const isAllowed = read.choice('HTTP_ON_PRIVATE_NETWORK', 'off', ['on', 'off']) === 'on';
  if (port === 0 && !read.text('PUBLIC_URL')) {
    read.problems.push('PORT=0 lets the system choose a port, so PUBLIC_URL must say where clients reach the service');
  }
  const text = read.text('PUBLIC_URL', fallback);
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || !basePath.test(url.pathname) || /[?#@]/.test(text)) {
    read.problems.push(`PUBLIC_URL must be a URL such as https://api.example.com or https://example.com/api${butNot(text)}`);
    return new URL(fallback);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  const problem = plainHttpProblem(url, isAllowed, production);
  if (problem !== undefined) read.problems.push(problem);
  return url;
}

/** Rules 9 and 86: plain http is for this machine and, by a setting, for a private address; never for production. */
function plainHttpProblem(url: URL, isAllowed: boolean, production: boolean): string | undefined {
  const isHttp = url.protocol === 'http:';
  if (production) {
    if (isAllowed)
      return 'HTTP_ON_PRIVATE_NETWORK=on is not for production (NODE_ENV=production): remove it, and serve https through a proxy';
    return isHttp ? 'PUBLIC_URL must be https in production (NODE_ENV=production), where clients reach the service' : undefined;
  }
  const isPlain = isHttp && !isLoopback(url);
  if (isAllowed) {
    if (isPlain && isPrivateAddress(url)) return undefined;
    return `HTTP_ON_PRIVATE_NETWORK=on needs a PUBLIC_URL with http and a private address, such as ${privateExample}, not "${baseUrlOf(url)}"`;
  }
  if (!isPlain) return undefined;
  const way = isPrivateAddress(url)
    ? '; HTTP_ON_PRIVATE_NETWORK=on allows http on this private address, and docs/settings.md says what that gives up'
    : '';
  return `PUBLIC_URL must be https unless it is localhost: on plain http the network can read and change passwords and sessions${way}`;
}

/** TRUSTED_ORIGINS, each in the form of the header Origin. Those that are wrong are left out and added to `read.problems`. */
export function readOrigins(read: Reader, production: boolean): Set<string> {
  const origins = new Set<string>();
  for (const text of read.list('TRUSTED_ORIGINS')) {
    const url = readOrigin(text);
    if (!url) {
      read.problems.push(`TRUSTED_ORIGINS must list origins such as https://app.example.com${butNot(text)}${originHint(text)}`);
    } else if (production && url.protocol === 'http:' && !isLoopback(url)) {
      read.problems.push(
        `TRUSTED_ORIGINS must be https in production (NODE_ENV=production)${butNot(text)}: its network could change the pages`,
      );
    } else origins.add(url.origin);
  }
  return origins;
}

/**
 * An origin as a URL; undefined for a text that is none, which no header Origin could equal. The case of the host, the port of the scheme and a slash at the
 * end do not matter: the URL has the form of browsers.
 */
function readOrigin(text: string): URL | undefined {
  const url = /^https?:\/\/[^/?#@\\]+\/?$/i.test(text) ? URL.parse(text) : null;
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  return url && (isIP(host) !== 0 || hostName.test(host)) ? url : undefined;
}

/** The text to write instead, if it shows; a value with an `@` is not repeated (rule 84). */
function originHint(text: string): string {
  if (text.includes('*')) return ': no pattern matches an origin, so list each of them whole';
  const url = text.includes('@') ? null : URL.parse(text);
  return url && /^https?:$/.test(url.protocol) && readOrigin(url.origin) ? `: write ${url.origin}` : '';
}

/** TRUST_PROXY: addresses and CIDR ranges. Those that are wrong are added to `read.problems`. */
export function readProxies(read: Reader): string[] {
  const ranges = read.list('TRUST_PROXY');
  for (const range of ranges) {
    if (!isRange(range)) {
      read.problems.push(`TRUST_PROXY must list addresses or CIDR ranges such as 10.0.0.0/8${butNot(range)}: clients could forge the rest`);
    }
  }
  return ranges;
}

/** CONNECTIONS_PER_ADDRESS: a quarter of those of a process if it is not set. */
export function readConnectionsPerAddress(read: Reader): number {
  return read.integer('CONNECTIONS_PER_ADDRESS', processConnections / 4, 0, processConnections);
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  if (!/^\d{1,3}$/.test(bits)) return false;
  try {
    new BlockList().addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
    return Number(bits) > 0;
  } catch {
    return false;
  }
}
