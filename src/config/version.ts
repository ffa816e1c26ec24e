/** The version of the service. */
import { readFileSync } from 'node:fs';

export function readVersion(): string {
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}
