/** The issuers that Swagger UI offers: those that answer. */
import { setTimeout as delay } from 'node:timers/promises';
import { isLoopback } from '../../config/near-hosts.ts';
import { publicAddress, publicPath } from '../../config/public-url.ts';
import type { OfferedIssuer } from '../../pages/docs-issuers.ts';
import type { IssuerContext } from '../context.ts';
import { startUrl } from './begin.ts';
import type { TrustedIssuer } from '../tokens/issuer-registry.ts';

/** The page waits at most this long for an issuer. An issuer that answers later is on the page the next time. */
const issuerAnswerTimeoutMs = 1_000;

/**
 * The issuers at which users can sign in or that know Swagger UI as a client, in the order of the file. Omits issuers whose endpoints are
 * unknown. Never throws.
 */
export async function offeredIssuers({ config, issuers }: Pick<IssuerContext, 'config' | 'issuers'>): Promise<OfferedIssuer[]> {
  const candidates = issuers.all.filter(({ clientId, swaggerUi }) => clientId !== undefined || swaggerUi);
  return (await Promise.all(candidates.map((issuer) => offer(issuer, config.publicUrl)))).filter((issuer) => issuer !== undefined);
}

async function offer(issuer: TrustedIssuer, publicUrl: URL): Promise<OfferedIssuer | undefined> {
  const answered = issuer.provider.current().catch(() => undefined);
  const client = await Promise.race([answered, delay(issuerAnswerTimeoutMs, undefined, { ref: false })]);
  const { authorization_endpoint: authorizationUrl = '', token_endpoint: tokenUrl = '' } = client?.serverMetadata() ?? {};
  if (![authorizationUrl, tokenUrl].every((url) => isUsable(url, issuer))) return undefined;
  const { id, label, clientId, scopes, swaggerUi } = issuer;
  const named = [scopes?.read, scopes?.write].filter((scope) => scope !== undefined);
  return {
    id,
    label,
    startUrl: clientId === undefined ? undefined : `${startUrl(publicUrl, issuer)}?return_to=${publicPath(publicUrl, '/docs')}`,
    authorizationUrl,
    tokenUrl,
    client: { id: swaggerUi?.clientId ?? '', scopes: swaggerUi?.scopes ?? named, parameters: swaggerUi?.parameters ?? {} },
  };
}

/** Whether the page may use the address, whose origin goes into its policy: https, or http where that is allowed, and a plain host. */
function isUsable(address: string, { allowInsecureHttp }: TrustedIssuer): boolean {
  const url = URL.parse(address);
  if (!url || !/^https?:\/\/[a-z0-9.:[\]-]+$/.test(url.origin)) return false;
  return url.protocol === 'https:' || (allowInsecureHttp && isLoopback(url));
}

/** The URL to which issuers redirect sign-ins of Swagger UI. It is registered at the issuer. */
export function swaggerUiRedirectUri(publicUrl: URL): string {
  return publicAddress(publicUrl, '/docs/static/oauth2-redirect.html');
}
