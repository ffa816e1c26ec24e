/**
 * The output of a command: one JSON document for scripts, or tables and lines for people. It does not depend on commands or the database.
 */

/** The outcome of a command. */
export interface CommandOutcome {
  /** The whole output with `--json`. */
  document: unknown;
  /** The output for people, without `--json`. */
  /** Undefined if the command has written its output itself. */
  text: string | undefined;
  /** Printed on standard error in both cases. */
  note?: string;
  /** Present if the outcome is a failure, such as missing migrations: the exit code is 1. */
  failure?: string;
  /** The exit code of an outcome that is no failure; 0 by default. */
  exitCode?: 0 | 3 | 4;
}

/** The command was not carried out: 1, refused or failed; 2, wrong usage. The message is one line for people, without a secret. */
export class Refusal extends Error {
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The JSON document as text. Control characters that a terminal would execute are escaped (RFC 8259 allows U+007F and above unescaped). */
export function toJson(document: unknown): string {
  return JSON.stringify(document, undefined, 2).replaceAll(/[\u007f-\u009f]/g, (character) => `\\u${hexOf(character).padStart(4, '0')}`);
}

/** Text from the database, safe to print: names and user agents may contain terminal control sequences or change the text direction. */
export function printableText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (character) => `\\u{${hexOf(character)}}`);
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Rows under a heading, in aligned columns; `nothing` if there are no rows. */
export function tableText(heading: readonly string[], rows: readonly (readonly string[])[], nothing: string): string {
  if (rows.length === 0) return nothing;
  const lines = [heading, ...rows].map((row) => row.map(printableText));
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  const align = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
  return lines.map((line) => line.map(align).join('  ').trimEnd()).join('\n');
}

/** The width of the text in terminal columns: two for East Asian characters and emoji, none for combining marks. */
function widthOf(text: string): number {
  return Array.from(text).reduce((width, character) => {
    if (/\p{M}|\u200d/u.test(character)) return width;
    return (
      width +
      (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u.test(character)
        ? 2
        : 1)
    );
  }, 0);
}

/** A time for people, in UTC to the second. */
export function timeText(time: Date | null): string {
  return time === null ? '-' : `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
