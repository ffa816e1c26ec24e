/** Checks the types of an access token's claims and reads facts from them. It depends neither on issuers nor on users. */
import type { JWTPayload } from 'jose';

/** The claims of an issuer about a subject. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Whether a client got the token for itself (client credentials). RFC 9068 makes the client's id the subject. Auth0, Entra ID and Keycloak
 * mark such tokens each by a claim that no person can choose.
 */
export function isClientToken(claims: Claims, clientId: string): boolean {
  const { sub, oid, gty, idtyp } = claims;
  if (sub === clientId || sub === `${clientId}@clients` || gty === 'client-credentials' || idtyp === 'app') return true;
  return (typeof oid === 'string' && sub === oid) || isKeycloakServiceAccount(claims, clientId);
}

/**
 * Keycloak names the user of a client after the client. A person can register under that name where the client has no such user, so the
 * name alone proves nothing. Keycloak adds the address of the client (`clientAddress`) in the client credentials grant only.
 */
function isKeycloakServiceAccount({ preferred_username: name, clientAddress }: Claims, clientId: string): boolean {
  return name === `service-account-${clientId.toLowerCase()}` && isText(clientAddress);
}

/**
 * Whether the claims look like those of an ID token. A token without a type may be one. A token without `aud` is none, as every ID token
 * has it. Cognito says `token_use`.
 */
export function mayBeIdToken(claims: JWTPayload, clientId: string | undefined): boolean {
  const { aud, token_use: use } = claims;
  const audiences = typeof aud === 'string' ? [aud] : (aud ?? []);
  const isForClient = aud !== undefined && audiences.every((audience) => audience === clientId);
  return use === 'id' || isForClient || ['nonce', 'at_hash', 'c_hash'].some((name) => name in claims);
}

/**
 * The name of the first claim that is missing or has a wrong type: those whose check is false, in their order. Undefined if there is none.
 */
export function faultyClaim(checks: Readonly<Record<string, boolean>>): string | undefined {
  return Object.keys(checks).find((name) => !checks[name]);
}

/** The first of the times that is later than `latest`, in seconds since 1970; undefined if none is. */
export function futureClaim(times: Readonly<Record<string, number | undefined>>, latest: number): string | undefined {
  return Object.keys(times).find((name) => (times[name] ?? 0) > latest);
}

/** Whether the value is text that is not empty and has no control characters and no lone surrogates. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

/** Seconds since 1970, up to the year 9999. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 253_402_300_799;
}

/** The time `iat`, which must be a time, in whole seconds. Issuers with fractional seconds do not order their tokens by the fraction. */
export function issuedAtOf(iat: number): Date {
  return new Date(Math.floor(iat) * 1_000);
}

/** Whether the value is a valid `sub`: OpenID Connect Core, section 2, limits it to 255 characters. PostgreSQL cannot store U+0000. */
export function isSubject(value: unknown): value is string {
  return isText(value) && value.length <= 255;
}
