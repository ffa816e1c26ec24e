/** The connections that wait for a lock. Test files share a server, and databases from one template share the numbers of their tables, so others are left out. */
import { sql } from 'kysely';

/** The processes of PostgreSQL that wait for a lock in the database of the connection. */
export const waitingProcesses = sql<{ pid: number }>`
  select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
