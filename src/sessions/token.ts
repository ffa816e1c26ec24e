/** The session token, the secret in the session cookie (rules 10 and 11): how one is made, recognised and hashed. It knows no cookie. */

import { hash, randomBytes } from 'node:crypto';

/** A fresh token: 192 bits from the CSPRNG as 32 characters of base64url. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Whether the text has the form of a token. What has not is no session, and the database is not asked (rule 10). */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(text);
}

/** SHA-256 of the token, 32 bytes: the only form in which it is stored (rule 11). */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
