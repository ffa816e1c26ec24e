/** The pairs of operation and status that openapi.yaml declares and no test gets yet, each with the reason. */
import { readFileSync } from 'node:fs';

export const uncoveredFile = 'test/contract/uncovered.json';

export function readUncovered(): Record<string, string> {
  return JSON.parse(readFileSync(new URL('../contract/uncovered.json', import.meta.url), 'utf8')) as Record<string, string>;
}
