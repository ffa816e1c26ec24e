/** Writes the backup of each day while the service runs. */
import type { FastifyBaseLogger } from 'fastify';
import type { DailyBackups } from '../administration/daily-backups.ts';

const backupCheckIntervalMs = 600_000;

/**
 * Runs the backups at once and then every ten minutes, until the returned function is called. That cancels one under way and waits for its end. A failure is logged,
 * and the next run tries again.
 */
export function scheduleBackups(backups: DailyBackups, log: FastifyBaseLogger): () => Promise<void> {
  const stopping = new AbortController();
  const work = async () => {
    const began = performance.now();
    try {
      const written = await backups.run(stopping.signal);
      if (written) log.info({ event: 'backup', outcome: 'ok', ...written, durationMs: Math.round(performance.now() - began) });
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ event: 'backup', outcome: 'failed', err: error });
    }
  };
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, backupCheckIntervalMs).unref();
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await running;
  };
}
