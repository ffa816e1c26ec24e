/** Checks documents of callers in a thread that can be ended, so that no document stops the process (rule 101). */
import { extname } from 'node:path';
import type { CostMeter } from '../network/origin.ts';
import type { Fault } from '../problems/faults.ts';
import { Admission } from '../admission/admission.ts';
import { busyProblem } from '../admission/refusals.ts';
import { Sandbox, SandboxEndedError } from '../sandbox/sandbox.ts';
import type { DocumentJob, DocumentReport } from './document-worker.ts';
import { reportedFaults } from './document.ts';
import { linearPatternSize } from '../sandbox/linear-pattern.ts';
import { costlyPatternIn, patternsIn } from './patterns.ts';
import { isSchemaObject, type Schema } from './subschemas.ts';

/** A package has JavaScript, the repository TypeScript. */
const workerUrl = new URL(`./document-worker${extname(import.meta.filename)}`, import.meta.url);

/** Milliseconds of a processor that compiling the patterns of a stored document may take on the main thread. */
const maximumStoredMs = 100;

/** Milliseconds of a processor that are counted for a check that was ended. */
const endedMs = 1_000;

/** The user who sends a document. */
export interface DocumentSender {
  userName: string;
  cost?: CostMeter | undefined;
}

/** Checks documents, one at a time: in the class `sandbox`, each user in turn. */
export class DocumentChecks {
  readonly #sandbox = new Sandbox<DocumentJob, DocumentReport>(workerUrl);
  readonly #admission: Pick<Admission, 'run'>;

  constructor(admission: Pick<Admission, 'run'> = new Admission()) {
    this.#admission = admission;
  }

  /**
   * The faults of a document that a caller sent, as `faultsOfDocument` finds them. A document that takes too long or too much memory has one
   * fault, at the place where its check was ended. Throws 503 `busy` if the processor does other work.
   */
  async faultsOfUntrusted(document: unknown, { userName, cost }: DocumentSender): Promise<Fault[]> {
    try {
      const report = await this.#runJob(userName, { kind: 'faults', document });
      cost?.add('loop', report.processorMs);
      return report.faults;
    } catch (error) {
      if (!(error instanceof SandboxEndedError)) throw error;
      cost?.add('loop', endedMs);
      const faults: Fault[] = [{ pointer: error.place, code: 'too-costly' }];
      return isSchemaObject(document) ? reportedFaults(document, faults) : faults;
    }
  }

  /**
   * Whether this process may compile the patterns of a stored document, which an earlier version may have accepted, and has a meaning for
   * all of them. Throws 503 `busy`.
   */
  async isCheapDocument(document: Schema): Promise<boolean> {
    if (costlyPatternIn(document) === undefined) return [...patternsIn(document).keys()].every((pattern) => linearPatternSize(pattern));
    try {
      return (await this.#runJob('', { kind: 'patterns', document })).processorMs <= maximumStoredMs;
    } catch (error) {
      if (!(error instanceof SandboxEndedError)) throw error;
      return false;
    }
  }

  async #runJob(flow: string, job: DocumentJob): Promise<DocumentReport> {
    try {
      return await this.#admission.run('sandbox', { flow }, () => this.#sandbox.run(job));
    } catch (error) {
      // A check that the clock has ended may succeed later.
      throw error instanceof SandboxEndedError && error.limit === 'elapsed' ? busyProblem() : error;
    }
  }
}
