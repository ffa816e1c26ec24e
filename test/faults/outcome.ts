/** The result of a fault. */
export interface Outcome {
  /** Broken promises, one a line. */
  violations: string[];
  /** The figures of the table, in this order. */
  figures: Record<string, number | string>;
}

/** Receives lines of progress. */
export type Progress = (line: string) => void;
