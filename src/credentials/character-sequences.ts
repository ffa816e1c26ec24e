/** Finds sequences of characters that are not words: `aaaa`, `abcd`, `9876`, adjacent keys, years and dates. */

const rowOffsets = [0, 0.5, 0.75, 1.25];
/** The signs of a keyboard, row by row. Each row is shifted right by its offset. Unused keys are spaces. */
const layouts = [
  ['1234567890-=', 'qwertyuiop[]', "asdfghjkl;'", 'zxcvbnm,./'],
  ['1234567890', 'qwertzuiop', 'asdfghjkl', 'yxcvbnm,.-'],
  ['1234567890', 'azertyuiop', 'qsdfghjklm', 'wxcvbn,;:!'],
].map(neighbours);
/** The signs of the number row with the shift key (US). */
const unshifted: ReadonlyMap<string, string> = new Map(Array.from('!@#$%^&*()', (sign, index) => [sign, '1234567890'[index] ?? '']));

const minRepeated = 3;
const minSequence = 3;
const minWalk = 4;

/** The indices at which a run that begins at `start` may end. */
export function findRuns(text: readonly string[], start: number): number[] {
  return [
    runEnd(text, start, minRepeated, (a, b) => a === b),
    runEnd(text, start, minSequence, (a, b) => isNext(a, b)),
    runEnd(text, start, minSequence, (a, b) => isNext(b, a)),
    ...layouts.map((layout) => runEnd(text, start, minWalk, (a, b) => isBeside(layout, a, b))),
    ...dateEnds(text, start),
  ].filter((end) => end !== undefined);
}

/** The end of the longest run from `start` in which each sign follows the one before it by `follows`. */
function runEnd(text: readonly string[], start: number, least: number, follows: (a: string, b: string) => boolean): number | undefined {
  let end = start + 1;
  while (end < text.length && follows(text[end - 1] ?? '', text[end] ?? '')) end += 1;
  return end - start >= least ? end : undefined;
}

/** Letters by the alphabet, digits around the clock (`7890123`). */
function isNext(a: string, b: string): boolean {
  if (/\d\d/.test(a + b)) return (Number(a) + 1) % 10 === Number(b);
  return /\p{L}{2}/u.test(a + b) && (a.codePointAt(0) ?? 0) + 1 === b.codePointAt(0);
}

type KeyboardLayout = ReadonlyMap<string, string>;

/** The neighbours of each key. */
function neighbours(rows: readonly string[]): KeyboardLayout {
  const keys = rows.flatMap((row, y) => Array.from(row, (sign, index) => ({ sign, y, x: index + (rowOffsets[y] ?? 0) })));
  return new Map(
    keys.map((key) => {
      const around = keys.filter(({ x, y }) =>
        y === key.y ? Math.abs(x - key.x) === 1 : Math.abs(y - key.y) === 1 && Math.abs(x - key.x) < 1,
      );
      return [key.sign, around.map(({ sign }) => sign).join('')];
    }),
  );
}

function isBeside(layout: KeyboardLayout, a: string, b: string): boolean {
  const from = unshifted.get(a) ?? a;
  const to = unshifted.get(b) ?? b;
  return layout.get(from)?.includes(to) === true;
}

const day = '(?:0[1-9]|[12]\\d|3[01])';
const month = '(?:0[1-9]|1[0-2])';
const year = '(?:19|20)\\d\\d';
const dates = [year, `${day}${month}${year}`, `${month}${day}${year}`, `${year}${month}${day}`, `${day}${month}\\d\\d`].map(
  (pattern) => new RegExp(`^${pattern}`),
);

function dateEnds(text: readonly string[], start: number): number[] {
  const digits = text.slice(start, start + 8).join('');
  return dates.flatMap((date) => {
    const length = date.exec(digits)?.[0].length;
    return length === undefined ? [] : [start + length];
  });
}
