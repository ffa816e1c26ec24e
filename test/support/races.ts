/** How hard the race harnesses of test/races try. They know what is raced; this knows only how often. */
import { scheduleTimeout, type Schedule } from '../../src/http/concurrency-limit.ts';

/** How many requests race in every round. */
export const parallel = 50;

/** How many rounds to race: 20 in the suite, RACE_ROUNDS in `npm run test:races`. Throws when that is no number above 0. */
export function raceRounds(): number {
  const rounds = Number(process.env['RACE_ROUNDS'] ?? 20);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('RACE_ROUNDS must be a whole number above 0');
  return rounds;
}

/** What a test of so many rounds may take, in milliseconds: each round far more than it needs, on a machine that is busy with others. */
export const timeoutOf = (rounds: number): number => 30_000 + rounds * 15_000;

/**
 * No wait for a turn ends, however slow the machine that runs the tests: what is held is that nobody is refused for coming in a crowd. What
 * is shorter than a second is a pause before asking again, so many times; with longer ones the asking goes on for longer: 32 s, not 2.
 */
export const patient: Schedule = (ms, action) => (ms < 1_000 ? scheduleTimeout(ms * 16, action) : () => undefined);

/** Makes `count` requests, all of them under way at once. */
export function race<T>(count: number, one: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

/** How many answers have each status. */
export function statuses(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
