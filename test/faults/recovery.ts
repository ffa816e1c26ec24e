/** The time from the end of a fault until the service works again. */
import { setTimeout as delay } from 'node:timers/promises';
import { Caller } from './http.ts';

/** The maximum of that time. */
export const recoveryMilliseconds = 5_000;

/** Milliseconds until a create succeeds; Infinity when the service has ended. */
export async function recovered({ port, hasEnded }: { port: number; hasEnded: () => boolean }, apiKey: string): Promise<number> {
  const began = performance.now();
  const caller = new Caller(() => port);
  const create = () => caller.send('POST', '/rest/entity/probe', { headers: { 'x-api-key': apiKey }, json: {} });
  while ((await create().catch(() => undefined))?.status !== 201) {
    if (hasEnded()) return Infinity;
    await delay(10);
  }
  caller.close();
  return performance.now() - began;
}
