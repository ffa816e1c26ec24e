/** Four times as many sign-ins a second as can be done: what can be done is done, and the rest is told at once to come back. */
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from '../../scripts/bench/processes.ts';
import { makeCallers } from './callers.ts';
import { Caller } from './http.ts';
import { Ledger } from './ledger.ts';
import type { Outcome, Progress } from './outcome.ts';

/** Enough to keep all cores hashing. */
const busyClients = 4;
const overload = 4;
/** What the goodput has to be of the capacity. */
const aim = 0.8;

export async function overloadService(
  seconds: number,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const server = await startService(settings, opened);
  const { users, password } = await makeCallers(databaseUrl, { users: 200 });
  const ledger = new Ledger();
  let n = 0;
  const signIn = async (caller: Caller) => {
    const user = users[n++ % users.length] ?? '';
    const reply = await caller.send('POST', '/auth', { form: { user, password } });
    ledger.note(reply);
    return reply.status;
  };
  const capacityOf = async (time: number) => {
    let done = 0;
    const end = performance.now() + time * 1_000;
    const work = async () => {
      const caller = new Caller(() => server.port);
      while (performance.now() < end) if ((await signIn(caller)) === 200) done += 1;
      caller.close();
    };
    await Promise.all(Array.from({ length: busyClients }, work));
    return done / time;
  };
  await capacityOf(seconds / 4);
  const capacity = await capacityOf(seconds);
  progress(`capacity: ${capacity.toFixed(1)} sign-ins a second`);
  const load = await offer(overload * capacity, seconds, async (caller) => signIn(caller), server.port);
  progress(`offered ${(overload * capacity).toFixed(1)} a second: ${load.granted.toFixed(1)} granted a second`);
  const after = await capacityOf(seconds / 2);
  const violations = [...ledger.violations];
  if (load.granted < aim * capacity) violations.push(`goodput is ${(load.granted / capacity).toFixed(2)} of the capacity`);
  if (load.broken > 0) violations.push(`${load.broken} requests have no answer`);
  if (after < aim * capacity) violations.push(`afterwards the capacity is ${(after / capacity).toFixed(2)} of what it was`);
  return {
    violations,
    figures: {
      'capacity (sign-ins/s)': capacity.toFixed(1),
      'offered (1/s)': (overload * capacity).toFixed(1),
      'granted (1/s)': load.granted.toFixed(1),
      'goodput / capacity': (load.granted / capacity).toFixed(2),
      '503 busy': load.refused,
      'capacity afterwards (1/s)': after.toFixed(1),
    },
  };
}

/** Sends `rate` requests a second, answered or not, each over a connection of its own; `granted` is those a second that were 200 within the time. */
async function offer(rate: number, seconds: number, send: (caller: Caller) => Promise<number>, port: number) {
  const seen = { granted: 0, refused: 0, broken: 0 };
  const start = performance.now();
  const end = start + seconds * 1_000;
  const one = async (index: number) => {
    await delay(Math.max(1, start + (index * 1_000) / rate - performance.now()));
    const caller = new Caller(() => port);
    try {
      const status = await send(caller);
      if (status !== 200) seen.refused += 1;
      else if (performance.now() <= end) seen.granted += 1;
    } catch {
      seen.broken += 1;
    } finally {
      caller.close();
    }
  };
  await Promise.all(Array.from({ length: Math.round(rate * seconds) }, (_, index) => one(index)));
  return { ...seen, granted: seen.granted / seconds };
}
