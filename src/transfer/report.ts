/** The report of an import as NDJSON. */
import type { ProblemDocument } from '../http/problem.ts';
import type { Problem } from '../errors.ts';
import type { ImportReport } from './import.ts';

export interface Descriptions {
  ofRow: (problem: Problem) => ProblemDocument;
  /** Of what ended the import early. */
  ofEnd: (error: unknown) => Promise<ProblemDocument>;
  /** Of what was written so far; undefined where there is no standby. */
  token: () => Promise<string | undefined>;
}

/** A line for each row that is refused, and one for the counts after each portion. */
export async function* asReport(reports: AsyncIterable<ImportReport>, { ofRow, ofEnd, token }: Descriptions): AsyncGenerator<string> {
  let lines = '';
  for await (const report of reports) {
    if ('problem' in report) {
      const { status, code, detail, errors } = ofRow(report.problem);
      lines += `${JSON.stringify({ row: report.row, status, code, detail, errors })}\n`;
      continue;
    }
    const { error, ...counts } = report;
    const end = error === undefined ? {} : { problem: await ofEnd(error) };
    yield `${lines}${JSON.stringify({ ...counts, ...end, consistencyToken: await token() })}\n`;
    lines = '';
  }
}
