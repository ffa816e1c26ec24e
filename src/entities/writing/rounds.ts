/** The rounds of a write: it is run again when others have changed the entity, or its type, meanwhile. */
import { busyProblem } from '../../admission/refusals.ts';
import type { Problem } from '../../problems/errors.ts';

/** Only an entity under constant change makes one caller lose this many. */
const maximumRounds = 100;

/** Runs `work` until it returns something. Undefined is a lost round. Throws `refusal` after so many of them, 503 `busy` after 100 unless told otherwise. */
export async function inRounds<T>(
  work: () => Promise<T | undefined>,
  rounds = maximumRounds,
  refusal: () => Problem = busyProblem,
): Promise<T> {
  for (let round = 0; round < rounds; round++) {
    const result = await work();
    if (result !== undefined) return result;
  }
  throw refusal();
}
