/** Whether two series of measurements, taken in pairs, differ by more than chance. It does not know what was measured. */

export interface SampleComparison {
  /** The median of the differences within the pairs, first minus second. */
  difference: number;
  /** Where that median lies with 95 % confidence, by 2,000 bootstrap samples of the pairs. */
  interval: [number, number];
  /** The statistic of Mann and Whitney, standardised: within ±1.96 in 95 of 100 runs when both come from one distribution. */
  z: number;
  /** The two-sided probability of such a z by chance. */
  p: number;
}

/** NaN for an empty series. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** Compares two series of the same length, whose values at one place belong together. `random` gives numbers from 0 to below 1. */
export function compareSamples(first: readonly number[], second: readonly number[], random: () => number = Math.random): SampleComparison {
  const differences = first.map((value, index) => value - (second[index] ?? Number.NaN));
  const z = mannWhitney(first, second);
  return { difference: median(differences), interval: bootstrap(differences, random), z, p: 2 * (1 - normal(Math.abs(z))) };
}

function bootstrap(values: readonly number[], random: () => number): [number, number] {
  const samples = 2_000;
  const draw = () => values[Math.floor(random() * values.length)] ?? Number.NaN;
  const medians = Float64Array.from({ length: samples }, () => median(values.map(draw))).sort();
  return [medians[samples * 0.025] ?? Number.NaN, medians[samples * 0.975 - 1] ?? Number.NaN];
}

/** Ties count half; there are so few among times that the variance needs no correction for them. */
function mannWhitney(first: readonly number[], second: readonly number[]): number {
  const sorted = Float64Array.from(second).sort();
  let smaller = 0;
  for (const value of first) smaller += (countBelow(sorted, value, false) + countBelow(sorted, value, true)) / 2;
  const mean = (first.length * second.length) / 2;
  return (smaller - mean) / Math.sqrt((mean * (first.length + second.length + 1)) / 6);
}

/** How many of `sorted` are below `value`, or not above it. */
function countBelow(sorted: Float64Array, value: number, orEqual: boolean): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const at = sorted[middle] ?? Number.NaN;
    if (at < value || (orEqual && at === value)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The probability that a standard normal variable is below `z` of 0 or more (Abramowitz and Stegun 26.2.17, exact to 1e-7). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}
