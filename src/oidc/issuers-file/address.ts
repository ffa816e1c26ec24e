/** Reads the addresses of an issuer in ISSUERS_FILE: its name, where its metadata are fetched, and whether plain http is allowed. */
import { isLoopback, isPrivateAddress } from '../../config/near-hosts.ts';
import type { Environment } from '../../config/reader.ts';
import type { SchemaReader } from './schema-reader.ts';

export interface IssuerAddress {
  /** The exact string that tokens have as `iss`. With and without a final slash are two issuers. */
  issuer: string;
  /** Where the discovery document is fetched; undefined: at the place that OpenID Connect Discovery, section 4 derives from `issuer`. */
  discoveryUrl: string | undefined;
  /** Whether plain http is allowed, for hosts that {@link isNear}. */
  allowInsecureHttp: boolean;
}

/**
 * Whether the host is this machine, an address of a private network, or a name without a dot, as of a container beside this service. The
 * Internet has no such hosts, so plain http to them stays in the network of the operator.
 */
export function isNear(url: Pick<URL, 'hostname'>): boolean {
  return isLoopback(url) || isPrivateAddress(url) || /^[a-z0-9_-]+$/i.test(url.hostname);
}

/** Whether the service may send a request to an endpoint of the issuer: https, or plain http where the file allows it. */
export function isUsableEndpoint(url: URL, { allowInsecureHttp }: Pick<IssuerAddress, 'allowInsecureHttp'>): boolean {
  return url.protocol === 'https:' || (allowInsecureHttp && url.protocol === 'http:' && isNear(url));
}

/** Undefined for an entry without the required `issuer`. Reports every problem of the members. */
export function readAddress(members: SchemaReader, environment: Environment): IssuerAddress | undefined {
  const allowInsecureHttp = members.flag('allowInsecureHttp');
  if (allowInsecureHttp && environment['NODE_ENV'] === 'production') {
    members.report('allowInsecureHttp is not for production (NODE_ENV=production): remove it', 'allowInsecureHttp');
  }
  const issuer = members.text('issuer', { required: true });
  const discoveryUrl = members.text('discoveryUrl');
  if (issuer !== undefined) checkAddress(members, 'issuer', issuer, allowInsecureHttp);
  if (discoveryUrl !== undefined) checkAddress(members, 'discoveryUrl', discoveryUrl, allowInsecureHttp);
  const plain = [issuer, discoveryUrl].some((address) => address?.startsWith('http:'));
  const far = [issuer, discoveryUrl].some((address) => address?.startsWith('http:') && !isNear(URL.parse(address) ?? { hostname: '' }));
  if (allowInsecureHttp && issuer !== undefined && (far || !plain)) {
    const places = 'an issuer on localhost only, on a private address, or on a host without a dot in its name';
    members.report(`allowInsecureHttp is for ${places}: remove it`, 'allowInsecureHttp');
  }
  return issuer === undefined ? undefined : { issuer, discoveryUrl, allowInsecureHttp };
}

function checkAddress(members: SchemaReader, name: 'issuer' | 'discoveryUrl', address: string, allowInsecureHttp: boolean): void {
  const url = URL.parse(address);
  const parts = name === 'issuer' ? /[\s?#]/ : /[\s#]/;
  const query = name === 'issuer' && url?.search;
  if (!url || !/^https?:\/\//.test(address) || query || url.hash || url.username || url.password || parts.test(address)) {
    const without = name === 'issuer' ? 'query, fragment and credentials, exactly as in the tokens' : 'fragment and credentials';
    members.report(`${name} must be a URL without ${without}, not "${address}"`, name);
  } else if (url.protocol === 'http:' && !allowInsecureHttp) {
    members.report(`${name} must be https, or plain http on localhost with allowInsecureHttp: true`, name);
  }
}
