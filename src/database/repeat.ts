/** Work that a process repeats as long as it serves. */

/**
 * Runs `work` every `intervalMs` until the returned function is called, one run at a time. `onError` receives failures; the next run follows all the same.
 */
export function repeatEvery(intervalMs: number, work: () => Promise<unknown>, onError: (error: unknown) => void): () => void {
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    await work().catch(onError);
    isRunning = false;
  };
  const timer = setInterval(() => void run(), intervalMs).unref();
  return () => clearInterval(timer);
}
