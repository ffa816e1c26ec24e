/** Checks documents of callers in a thread that can be ended, so that no document stops the process (rule 101). */
import { extname } from 'node:path';
import type { Fault } from '../problems/faults.ts';
import { classes } from '../admission/classes.ts';
import { FairQueue } from '../admission/queue.ts';
import { busyProblem } from '../admission/refusals.ts';
import { Sandbox, SandboxEndedError } from '../sandbox/sandbox.ts';
import type { DocumentJob, DocumentReport } from './document-worker.ts';
import { reportedFaults } from './document.ts';
import { linearPatternSize } from '../sandbox/linear-pattern.ts';
import { costlyPatternIn, patternsIn } from './patterns.ts';
import { isSchemaObject, type Schema } from './subschemas.ts';

/** A package has JavaScript, the repository TypeScript. */
const sandbox = new Sandbox<DocumentJob, DocumentReport>(new URL(`./document-worker${extname(import.meta.filename)}`, import.meta.url));
/** All documents of a process. Each user has one of them at a time. */
const queue = new FairQueue(classes.sandbox);

/** What compiling the patterns of a stored document may take on the main thread, in milliseconds of a processor. */
const maximumStoredMs = 100;

/**
 * The faults of a document that a caller sent, as `faultsOfDocument` finds them. A document that takes too long or too much memory has one
 * fault, at the place where its check was ended. Throws 503 `busy` if the processor does other work.
 */
export async function faultsOfUntrusted(document: unknown): Promise<Fault[]> {
  try {
    return (await runJob({ kind: 'faults', document })).faults;
  } catch (error) {
    if (!(error instanceof SandboxEndedError)) throw error;
    const faults: Fault[] = [{ pointer: error.place, code: 'too-costly' }];
    return isSchemaObject(document) ? reportedFaults(document, faults) : faults;
  }
}

/**
 * Whether this process may compile the patterns of a stored document, which an earlier version may have accepted, and has a meaning for
 * all of them. Throws 503 `busy`.
 */
export async function isCheapDocument(document: Schema): Promise<boolean> {
  if (costlyPatternIn(document) === undefined) return [...patternsIn(document).keys()].every((pattern) => linearPatternSize(pattern));
  try {
    return (await runJob({ kind: 'patterns', document })).processorMs <= maximumStoredMs;
  } catch (error) {
    if (!(error instanceof SandboxEndedError)) throw error;
    return false;
  }
}

async function runJob(job: DocumentJob): Promise<DocumentReport> {
  try {
    return await queue.run('', () => sandbox.run(job));
  } catch (error) {
    // What the clock has ended may succeed later.
    throw error instanceof SandboxEndedError && error.limit === 'elapsed' ? busyProblem() : error;
  }
}
