/** What a fault has shown. */
export interface Outcome {
  /** What should never happen and did, a line each. */
  violations: string[];
  /** For the table, in this order. */
  figures: Record<string, number | string>;
}

/** Hears, a line each, how far it is. */
export type Progress = (line: string) => void;
