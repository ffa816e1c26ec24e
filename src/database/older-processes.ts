/** Waits for nobody: a right that a running process cannot enforce is refused until the process has ended (decision 323). */
import type { Kysely } from 'kysely';
import { listOlderProcesses, type KnownRight } from './processes.ts';
import type { Database } from './tables.ts';
import { Problem } from '../problems/errors.ts';

/** Throws 409 `older-version` with the hosts while processes run that do not know one of the rights. */
export async function assertKnownByAll(db: Kysely<Database>, rights: readonly KnownRight[]): Promise<void> {
  for (const right of rights) {
    const older = await listOlderProcesses(db, right);
    if (older.length === 0) continue;
    const hosts = older.map(({ host, pid, version }) => `${host} process ${pid} (version ${version})`).join(', ');
    throw new Problem('older-version', { values: { hosts } });
  }
}
