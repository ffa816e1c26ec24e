/** The objects that one process shares among its handlers. `service.ts` and the tests create it; nothing in it belongs to a request. */
import type { HeldBytes } from './admission/held-bytes.ts';
import type { MonitoringContext } from './monitoring/context.ts';
import type { OpenScope } from './telemetry/spans.ts';

/** The parts that the rooms need, and those that only the composition needs. */
export interface Context extends MonitoringContext {
  /** Bounds the memory that callers make this process hold. */
  heldBytes: HeldBytes;
  /** Traces requests; undefined if traces are off. */
  trace: OpenScope | undefined;
}
