/** The costs of a request for others: milliseconds of the event loop, bytes that are written, bytes of answers. */
export type CostKind = 'loop' | 'written' | 'answered';

/** Receives the costs of a request, for its user or its address. */
export interface CostMeter {
  add(kind: CostKind, amount: number): void;
}

/** The origin of a request. */
export interface Origin {
  requestId: string;
  /** The client's IP address, or `unknown`. */
  address: string;
  /** At most 256 characters (rule 84). */
  userAgent: string | undefined;
  /** Undefined for commands. */
  cost?: CostMeter;
}
