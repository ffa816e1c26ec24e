/** How long the service takes to work again once what was broken is not any more. */
import { setTimeout as delay } from 'node:timers/promises';
import { Caller } from './http.ts';

/** Within this it has to. */
export const recoveryMilliseconds = 5_000;

/** Milliseconds until a create succeeds; infinitely many when the service has ended. */
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
