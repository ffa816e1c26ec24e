/**
 * Who goes first when the cores are busy. Password hashes run on the threads of libuv's pool and take a core for as long as the system lets
 * them; everything else this process does, and PostgreSQL beside it, wants a core for a fraction of a millisecond. So the pool's threads
 * yield to all others: a flood of logins slows down logins.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

const tasks = '/proc/self/task';
/** A tenth of the time of a core that others want too, and all of one that nobody wants. */
const niceness = 10;

/**
 * Lowers the priority of the pool's threads and returns of how many. On Linux only, where threads have priorities of their own: elsewhere, and
 * where the system does not allow it, nothing is done.
 */
export async function lowerThreadPoolPriority(): Promise<number> {
  try {
    // Reading them is the pool's own work: by then all of its threads have been started.
    const threads = await readdir(tasks);
    const lowered = await Promise.all(threads.map(async (thread) => (await isOfPool(thread)) && lower(Number(thread))));
    return lowered.filter(Boolean).length;
  } catch {
    return 0;
  }
}

async function isOfPool(thread: string): Promise<boolean> {
  return (await readFile(`${tasks}/${thread}/comm`, 'utf8')).startsWith('libuv-worker');
}

function lower(thread: number): boolean {
  try {
    setPriority(thread, niceness);
    return true;
  } catch {
    return false;
  }
}
