/**
 * Lowers the priority of password hashing when the cores are busy. Hashes run on the threads of libuv's pool and use a core as long as the
 * system lets them. Other work of this process, and PostgreSQL on the same machine, needs a core for a fraction of a millisecond. So the
 * pool's threads get a lower priority: a flood of logins slows down logins only.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

const tasks = '/proc/self/task';
/** With this value a thread gets about a tenth of a contended core, and all of an idle one. */
const niceness = 10;

/**
 * Lowers the priority of the pool's threads and returns their number. Does nothing on other systems than Linux, where threads have no
 * priorities of their own, and where the system does not allow it.
 */
export async function lowerThreadPoolPriority(): Promise<number> {
  // The pool itself reads the directory, so all of its threads have been started by then.
  const threads = await readdir(tasks).catch(() => []);
  const lowered = await Promise.all(threads.map(async (thread) => (await isOfPool(thread)) && lower(Number(thread))));
  return lowered.filter(Boolean).length;
}

/** Whether the thread is one of the pool, which last as long as the process. Another one may have ended meanwhile. */
async function isOfPool(thread: string): Promise<boolean> {
  const name = await readFile(`${tasks}/${thread}/comm`, 'utf8').catch(() => '');
  return name.startsWith('libuv-worker');
}

function lower(thread: number): boolean {
  try {
    setPriority(thread, niceness);
    return true;
  } catch {
    return false;
  }
}
