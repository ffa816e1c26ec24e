/** What each program is given, and what it must print. */
import { readFileSync } from 'node:fs';

/** The document as the service serves it. */
export const document = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as { servers: [{ url: string }] };
export const server = document.servers[0].url;
export const user = { user: 'ada', password: process.env['ADA_PASSWORD'] ?? '' };

/** The session cookie as a request sends it. A browser does this by itself. */
export function cookieIn(setCookies: readonly string[]): string {
  const [pair = ''] = setCookies[0]?.split(';') ?? [];
  return pair;
}

/** Prints the version and the fields of the created entity, the version of the updated one, and the status after it was deleted. */
export function report(...found: unknown[]): void {
  console.log(JSON.stringify(found));
}
