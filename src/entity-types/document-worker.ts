/** The entry of the thread in which documents of callers are checked (rule 101). */
import type { Fault } from '../problems/faults.ts';
import { linearPatternSize } from '../sandbox/linear-pattern.ts';
import { serveSandbox } from '../sandbox/serve.ts';
import { faultsOfDocument } from './document.ts';
import { patternsIn } from './patterns.ts';
import type { Schema } from './subschemas.ts';

/** `faults`: what is wrong with the document. `patterns`: compiles the patterns of a stored document, which has no faults. */
export interface DocumentJob {
  kind: 'faults' | 'patterns';
  document: unknown;
}

export interface DocumentReport {
  faults: Fault[];
  /** Milliseconds of a processor that the job took. */
  processorMs: number;
}

serveSandbox(({ kind, document }: DocumentJob, report): DocumentReport => {
  const before = process.threadCpuUsage();
  const faults = kind === 'faults' ? faultsOfDocument(document, 'api', report) : [];
  if (kind === 'patterns') for (const pattern of patternsIn(document as Schema).keys()) linearPatternSize(pattern);
  const { user, system } = process.threadCpuUsage(before);
  return { faults, processorMs: (user + system) / 1_000 };
});
