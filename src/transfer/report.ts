/** The report of an import as NDJSON. */
import type { ProblemDocument } from '../http/problem.ts';
import type { Problem } from '../problems/errors.ts';
import { Pauses } from '../admission/turns.ts';
import type { ImportState, ImportReport } from './import.ts';

export interface Descriptions {
  ofRow: (problem: Problem) => ProblemDocument;
  /** Of what ended the import early. */
  ofEnd: (error: unknown) => Promise<ProblemDocument>;
  /** Of what was written so far; undefined where there is no standby. */
  token: () => Promise<string | undefined>;
}

/** A line for the rows that are refused for one reason, and one for the counts after each portion. */
export async function* asReport(reports: AsyncIterable<ImportReport>, { ofRow, ofEnd, token }: Descriptions): AsyncGenerator<string> {
  let lines = '';
  const pauses = new Pauses();
  for await (const report of reports) {
    if ('problem' in report) {
      await pauses.whenLong();
      const { row, toRow, duplicateOf } = report;
      const { status, code, detail, errors } = ofRow(report.problem);
      lines += `${JSON.stringify({ row, ...(toRow > row && { toRow }), duplicateOf, status, code, detail, errors })}\n`;
      continue;
    }
    const { error, ...counts } = report;
    const end = error === undefined ? {} : { problem: await ofEnd(error) };
    yield `${lines}${JSON.stringify({ ...countsOf(counts), ...end, consistencyToken: await token() })}\n`;
    lines = '';
  }
}

/** Without a list of ignored names that is empty. */
function countsOf({ ignored, ...counts }: Omit<ImportState, 'error'>): object {
  return ignored.length > 0 ? { ...counts, ignored } : counts;
}
