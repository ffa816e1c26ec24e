/** The turns of the event loop of this process, in which other work runs. */
import { onTestFinished } from 'vitest';

/** Counts the turns from now until the test is over; the returned function tells how many there have been. */
export function countTurns(): () => number {
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  onTestFinished(() => clearImmediate(next));
  return () => turns;
}
