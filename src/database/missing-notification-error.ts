/** The errors of a listener on which other processes cannot rely, and what an operator can do about them. */
import type { Config } from '../config/settings.ts';

/** A notification that was sent over the pool did not arrive at the listener. */
export class MissingNotificationError extends Error {
  override readonly name: string = 'MissingNotificationError';
}

/** The server does not show the name of the listener to other processes, so they would not wait for it. */
export class UnseenError extends MissingNotificationError {
  override readonly name: string = 'UnseenError';
}

/** The advice to an operator about a {@link MissingNotificationError}. The notice may be lost, or merely late. */
export function adviceForMissingNotifications(
  error: MissingNotificationError,
  { databaseUrl, databaseDirectUrl }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>,
): string {
  if (error instanceof UnseenError)
    return 'pg_stat_activity does not show the connection for notifications to other processes, so nothing is cached: no pooler may change application_name, and the server must show the connections of all its nodes';
  if (databaseUrl === undefined) return 'notifications arrive more than 1 s late, so nothing is cached: the database is overloaded';
  const way = databaseDirectUrl
    ? 'DATABASE_DIRECT_URL must lead to the database of DATABASE_URL and must not pool by transaction; if all that holds,'
    : 'if DATABASE_URL pools by transaction, set DATABASE_DIRECT_URL; otherwise';
  return `notifications do not arrive within 1 s, so nothing is cached: ${way} the database is overloaded`;
}
