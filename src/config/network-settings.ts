/** The settings that tell this service about the network in front of it: PUBLIC_URL, TRUSTED_ORIGINS and TRUST_PROXY. */
import { BlockList, isIP } from 'node:net';
import type { Reader } from './environment.ts';

/** Segments of characters that every proxy and client writes in the same way (RFC 3986 section 2.3). */
const basePath = /^(\/[\w.~-]+)*\/?$/;
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/** PUBLIC_URL. Its path ends with a slash; another path than `/` is the base path behind which a proxy serves this service. */
export function readPublicUrl(read: Reader, port: number, production: boolean): URL {
  const fallback = `http://localhost:${port}`;
  if (port === 0 && !read.text('PUBLIC_URL')) {
    read.problems.push('PORT=0 lets the system choose a port, so PUBLIC_URL must say where clients reach the service');
  }
  const text = read.text('PUBLIC_URL', fallback);
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || !basePath.test(url.pathname) || /[?#@]/.test(text)) {
    read.problems.push(`PUBLIC_URL must be a URL such as https://api.example.com or https://example.com/api, not "${text}"`);
    return new URL(fallback);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  if (url.protocol === 'http:' && production) {
    read.problems.push('PUBLIC_URL must be https in production (NODE_ENV=production), where clients reach the service');
  } else if (url.protocol === 'http:' && !loopbackHosts.has(url.hostname)) {
    read.problems.push('PUBLIC_URL must be https unless it is localhost: browsers keep session cookies of plain http only there');
  }
  return url;
}

export function readOrigins(read: Reader, production: boolean): Set<string> {
  const origins = new Set<string>();
  for (const text of read.list('TRUSTED_ORIGINS')) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash || url.username) {
      read.problems.push(`TRUSTED_ORIGINS must list origins such as https://app.example.com, not "${text}"`);
    } else if (production && url.protocol === 'http:' && !loopbackHosts.has(url.hostname)) {
      read.problems.push(
        `TRUSTED_ORIGINS must be https in production (NODE_ENV=production), not "${text}": its network could change the pages`,
      );
    } else origins.add(url.origin);
  }
  return origins;
}

export function readProxies(read: Reader): string[] {
  const ranges = read.list('TRUST_PROXY');
  for (const range of ranges) {
    if (!isRange(range)) {
      read.problems.push(`TRUST_PROXY must list addresses or CIDR ranges such as 10.0.0.0/8, not "${range}": clients could forge the rest`);
    }
  }
  return ranges;
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
