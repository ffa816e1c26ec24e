/** Finds the name that a person meant. */

/** At most this many characters are wrong, missing or too many, or one for each three of a short name. */
const maxMistakes = 3;

/** The name in `names` that differs least from `name`, in any case of letters; undefined if none is near. */
export function nearName(name: string, names: readonly string[]): string | undefined {
  const written = name.toUpperCase();
  const allowed = Math.min(maxMistakes, Math.floor(name.length / 3));
  const [nearest] = names
    .map((candidate) => ({ candidate, mistakes: countMistakes(written, candidate.toUpperCase()) }))
    .filter(({ mistakes }) => mistakes <= allowed)
    .toSorted((one, other) => one.mistakes - other.mistakes);
  return nearest?.candidate;
}

/** How many characters must be inserted, removed, replaced or swapped with their neighbour (optimal string alignment distance). */
function countMistakes(written: string, meant: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: meant.length + 1 }, (_, column) => column);
  for (let row = 1; row <= written.length; row++) {
    const current = [row];
    for (let column = 1; column <= meant.length; column++) {
      const isSame = written[row - 1] === meant[column - 1];
      const isSwapped = written[row - 1] === meant[column - 2] && written[row - 2] === meant[column - 1];
      const ways = [(last[column - 1] ?? 0) + (isSame ? 0 : 1), (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1];
      if (isSwapped && row > 1 && column > 1) ways.push((beforeLast[column - 2] ?? 0) + 1);
      current.push(Math.min(...ways));
    }
    [beforeLast, last] = [last, current];
  }
  return last.at(-1) ?? 0;
}
