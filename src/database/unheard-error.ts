/** The error of a listener that does not receive what is sent over the pool, and what an operator can do about it. */
import type { Config } from '../config/settings.ts';

/** What was sent over the pool did not arrive at the listener. */
export class UnheardError extends Error {
  override readonly name = 'UnheardError';
}

/** What an operator has to do about an {@link UnheardError}. The notice may be lost, or merely late. */
export function adviceForUnheard({ databaseUrl, databaseDirectUrl }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>): string {
  if (databaseUrl === undefined) return 'notifications arrive more than 1 s late, so nothing is cached: the database is overloaded';
  const way = databaseDirectUrl
    ? 'DATABASE_DIRECT_URL must lead to the database of DATABASE_URL and must not pool by transaction; if all that holds,'
    : 'if DATABASE_URL pools by transaction, set DATABASE_DIRECT_URL; otherwise';
  return `notifications do not arrive within 1 s, so nothing is cached: ${way} the database is overloaded`;
}
