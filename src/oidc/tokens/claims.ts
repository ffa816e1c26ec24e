/** Of what shape the claims of an access token must be, and what they give away. Knows neither issuers nor users. */
import type { JWTPayload } from 'jose';

/** What an issuer says of a subject. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Whether a client got the token for itself (client credentials). RFC 9068 makes the client's id the subject; Auth0, Entra ID and Keycloak
 * show it otherwise, each by a claim that no person can choose.
 */
export function isClientToken(claims: Claims, clientId: string): boolean {
  const { sub, oid, gty, idtyp } = claims;
  if (sub === clientId || sub === `${clientId}@clients` || gty === 'client-credentials' || idtyp === 'app') return true;
  return (typeof oid === 'string' && sub === oid) || isKeycloakServiceAccount(claims, clientId);
}

/**
 * Keycloak names the user of a client after it. A person can register under that name where the client has no such user, so the name alone proves
 * nothing. Keycloak adds the address of the client (`clientAddress`) in the client credentials grant only.
 */
function isKeycloakServiceAccount({ preferred_username: name, clientAddress }: Claims, clientId: string): boolean {
  return name === `service-account-${clientId.toLowerCase()}` && isText(clientAddress);
}

/** Whether claims look like those of an ID token, as a token that does not say what it is may be one. */
export function mayBeIdToken(claims: JWTPayload, aud: JWTPayload['aud'], clientId: string | undefined): boolean {
  const audiences = typeof aud === 'string' ? [aud] : (aud ?? []);
  return ['nonce', 'at_hash', 'c_hash'].some((name) => name in claims) || audiences.every((audience) => audience === clientId);
}

/** Text that a person or a program could have meant: not empty, no control characters, no halves of characters. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

/** Seconds since 1970, up to the year 9999. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 253_402_300_799;
}

/** The time `iat`, which must be a time, in whole seconds: issuers that count finer do not order their tokens by it. */
export function issuedAtOf(iat: number): Date {
  return new Date(Math.floor(iat) * 1_000);
}

/** A `sub`: OpenID Connect Core, section 2, limits it to 255 characters. The database could not hold U+0000. */
export function isSubject(value: unknown): value is string {
  return isText(value) && value.length <= 255;
}
