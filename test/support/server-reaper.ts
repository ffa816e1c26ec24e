/** Ensures that no throw-away server outlives the suite, however the suite ends: Ctrl-C, a kill, a crash. */
import { spawn } from 'node:child_process';

/**
 * Starts a process that outlives this one by a moment. When this process ends, the input of the other ends; it then kills the server of
 * `<directory>/data` and removes the directory. Call the returned function after a regular stop and removal.
 */
export function reapAfter(directory: string): () => void {
  const lock = `${directory}/data/postgresql/data/postmaster.pid`;
  const script = `cat > /dev/null; [ -f "${lock}" ] && kill -QUIT "$(head -n 1 "${lock}")"; rm -rf "${directory}" || { sleep 1; rm -rf "${directory}"; }`;
  const watchdog = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watchdog.unref();
  return () => void watchdog.kill();
}
