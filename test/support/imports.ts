/** Imports of whole files, and their reports. */
import type { TestService } from './service.ts';

/** A line of the report. */
export interface ImportLine {
  row: number;
  toRow?: number;
  duplicateOf?: number;
  status?: number;
  code?: string;
  detail?: string;
  errors?: { code: string; pointer: string; position?: number; detail: string }[];
  done?: boolean;
  created?: number;
  updated?: number;
  unchanged?: number;
  failed?: number;
  removedFields?: number;
  ignored?: string[];
  problem?: { code: string; status: number; detail: string };
}

export interface ImportOptions {
  query?: string;
  type?: string;
  cookie: string;
}

/** Sends the file, and reads the report; CSV unless `type` says otherwise. */
export async function importFile(service: TestService, name: string, file: string | Buffer, options: ImportOptions) {
  const { query = '', type = 'text/csv', cookie } = options;
  const headers = { 'content-type': type };
  const { status, body, text } = await service.call('POST', `/rest/entity/${name}/import${query}`, { cookie, headers, raw: file });
  const lines =
    status === 200
      ? text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as ImportLine)
      : [];
  return { status, body, text, lines, end: lines.at(-1), refused: lines.filter(({ done }) => done === undefined) };
}

/** Each line of refused rows in short: rows, status, and the codes and places of its faults. */
export const refusalsOf = (lines: readonly ImportLine[]): string[] =>
  lines.map(({ row, toRow, status, code, errors = [] }) => {
    const faults = errors.map((fault) => `${fault.code} ${fault.pointer}${fault.position === undefined ? '' : `#${fault.position}`}`);
    return `${row}${toRow === undefined ? '' : `-${toRow}`} ${status} ${faults.length > 0 ? faults.join(', ') : code}`;
  });
