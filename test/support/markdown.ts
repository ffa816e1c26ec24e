/** Reads the parts of Markdown files that tests compare with the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');

/** The text of a file of the project. */
export function readDocument(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}

/** The text under a heading, up to the next heading of the same or a higher level. Throws when there is no such heading. */
export function section(text: string, heading: string): string {
  const lines = text.split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`there is no heading "${heading}"`);
  const level = heading.indexOf(' ');
  const end = lines.findIndex((line, index) => index > start && /^#{1,6} /.test(line) && line.indexOf(' ') <= level);
  return lines.slice(start + 1, end === -1 ? undefined : end).join('\n');
}

/** The rows of the tables in a text, as the texts of their cells, without the header rows. */
export function tableRows(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows
    .filter((_row, index) => !isRule(rows[index]) && !isRule(rows[index + 1]))
    .map((row) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|')),
    );
}

function isRule(row: string | undefined): boolean {
  return row !== undefined && /^\|[\s|:-]+$/.test(row);
}

/** The text of a cell that is only code; fails for any other cell. */
export function codeOf(cell: string | undefined): string {
  const code = /^`([^`]+)`$/.exec(cell ?? '')?.[1];
  if (code === undefined) throw new Error(`a cell that is not only code: ${cell}`);
  return code;
}
