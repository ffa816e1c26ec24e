/** Lines of the log about changes of types that take long while the service starts: nothing else tells why it does not listen yet. */
import type { ApplyOptions } from './apply.ts';
import type { BuildProgress } from './transaction.ts';

/** The log of a process. */
export interface InfoLog {
  info(members: object, text?: string): void;
}

const firstLineMs = 2_000;
const nextLineMs = 10_000;

/**
 * Runs `work`, the change of the type called `name`. If it takes more than two seconds it is logged as `type.applying`, again every ten
 * seconds with how far it is, and as `type.applied` at its end.
 */
export async function logSlowChange<T>(
  log: InfoLog,
  name: string,
  work: (options: Pick<ApplyOptions, 'onProgress' | 'onWait'>) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  const durationMs = () => Math.round(performance.now() - began);
  let progress: BuildProgress | undefined;
  let isWaiting = false;
  let isLogged = false;
  const write = () => {
    isLogged = true;
    timer = setTimeout(write, nextLineMs);
    const { phase, done, total } = progress ?? {};
    log.info(
      { event: 'type.applying', type: name, durationMs: durationMs(), ...(progress && { phase, done, total }) },
      isWaiting && !progress ? 'another process builds the type' : 'the type is not in force yet',
    );
  };
  let timer = setTimeout(write, firstLineMs);
  try {
    const result = await work({ onProgress: (now) => (progress = now), onWait: () => (isWaiting = true) });
    if (isLogged) log.info({ event: 'type.applied', type: name, durationMs: durationMs() });
    return result;
  } finally {
    clearTimeout(timer);
  }
}
