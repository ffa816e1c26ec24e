/**
 * The shape of one language's texts. A text may have parts in square brackets, each with placeholders in braces: `Wait[ {seconds}].`
 * A part is left out when one of its values is missing, so a text reads well with and without them; placeholders stand only in parts.
 */

import type { ProblemCode } from '../problems/errors.ts';
import type { ExpectedKind, FaultCode } from '../problems/faults.ts';

export interface Catalogue {
  /** `title` never varies (RFC 9457, 3.1.3); `detail` says what the caller can do. */
  problems: Record<ProblemCode, { title: string; detail: string }>;
  faults: Record<FaultCode, string>;
  /** What is accepted instead; a phrase that follows a colon, without a full stop. */
  expected: Record<Exclude<ExpectedKind, 'value'>, string>;
  /** The links of the page that shows a problem in a browser. */
  page: { retry: string; back: string };
}
