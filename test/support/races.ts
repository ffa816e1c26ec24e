/** The size of the races of test/races: their rounds, and the requests of each. What is raced is in those files. */
import { scheduleTimeout, type Schedule } from '../../src/admission/queue.ts';

/** The requests that race in each round. */
export const parallel = 50;

/** The rounds to race: 5 in the suite, RACE_ROUNDS in `npm run test:races`. Throws when that is not a whole number above 0. */
export function raceRounds(): number {
  const rounds = Number(process.env['RACE_ROUNDS'] ?? 5);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('RACE_ROUNDS must be a whole number above 0');
  return rounds;
}

/** The time limit of a test with that many rounds, in milliseconds: each round gets far more than it needs, even on a busy machine. */
export const timeoutOf = (rounds: number): number => 30_000 + rounds * 15_000;

/**
 * Removes the time limits on waiting in a queue, so that a slow machine causes no refusals: the test proves that a crowd alone causes none.
 * A time of a second or more is such a limit, and never ends. A shorter one is the pause between attempts, whose number is fixed: 16 times
 * as long, the attempts last 32 s instead of 2 s.
 */
export const patient: Schedule = (ms, action) => (ms < 1_000 ? scheduleTimeout(ms * 16, action) : () => undefined);

/** Makes `count` requests concurrently. */
export function race<T>(count: number, one: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

/** The number of answers for each status. */
export function statuses(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
