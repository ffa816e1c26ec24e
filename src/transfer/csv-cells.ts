/**
 * Divides CSV text into rows of cells (RFC 4180). A cell is quoted only if it begins with a quote; a quote inside of any other cell is data. Rows end with CRLF, LF or
 * CR, in any mixture.
 */
import { nullCell } from './columns.ts';

/** Undefined for an empty cell without quotes, and null for `\N` without quotes. */
export type Cell = string | null | undefined;

const [quote, lineFeed, carriageReturn] = [34, 10, 13];

/** The part of a cell to which the next character belongs. `closed`: behind the quote that may end a cell. */
type CellPart = 'begin' | 'bare' | 'quoted' | 'closed';

/** A quote is in the wrong place or is missing, or the row has too many characters. */
export class CsvSyntaxError extends Error {
  readonly isTooLong: boolean;
  /** The character behind a quote that should have ended its cell; undefined for another fault. */
  readonly behindQuote: string | undefined;

  constructor(isTooLong: boolean, behindQuote?: string) {
    super(isTooLong ? 'the row is too long' : 'a quote is in the wrong place');
    this.isTooLong = isTooLong;
    this.behindQuote = behindQuote;
  }
}

export class CsvCells {
  readonly #delimiter: number;
  readonly #limit: number;
  #cells: Cell[] = [];
  /** The text of the cell so far, without its quotes. */
  #text = '';
  #place: CellPart = 'begin';
  /** Of the cells of the row that have ended, with the delimiters. */
  #rowLength = 0;
  #isAfterReturn = false;

  /** `limit`: the most characters of a row. */
  constructor(delimiter: string, limit: number) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#limit = limit;
  }

  /** Adds the rows that end in `text` to `rows`. Throws {@link CsvSyntaxError} for the row behind them. */
  read(text: string, rows: Cell[][]): void {
    for (let at = 0; at < text.length;) {
      const code = text.charCodeAt(at);
      const isSecondOfEnd = this.#isAfterReturn && code === lineFeed;
      this.#isAfterReturn = false;
      if (isSecondOfEnd) at += 1;
      else if (this.#place === 'quoted') at = this.#readQuoted(text, at);
      else if (code === this.#delimiter) {
        this.#endCell();
        at += 1;
      } else if (code === lineFeed || code === carriageReturn) {
        this.#endRow(rows);
        this.#isAfterReturn = code === carriageReturn;
        at += 1;
      } else if (code === quote && this.#place !== 'bare') {
        // Two quotes inside of a quoted cell are one quote of its text.
        if (this.#place === 'closed') this.#text += '"';
        this.#place = 'quoted';
        at += 1;
      } else if (this.#place === 'closed') throw new CsvSyntaxError(false, text[at]);
      else at = this.#readBare(text, at);
    }
  }

  /** Adds the last row if nothing ends it. Throws {@link CsvSyntaxError} for a quote that is not closed. */
  end(rows: Cell[][]): void {
    if (this.#place === 'quoted') throw new CsvSyntaxError(false);
    if (this.#place !== 'begin' || this.#cells.length > 0) this.#endRow(rows);
  }

  #readQuoted(text: string, from: number): number {
    const end = text.indexOf('"', from);
    this.#add(text.slice(from, end === -1 ? text.length : end));
    if (end === -1) return text.length;
    this.#place = 'closed';
    return end + 1;
  }

  #readBare(text: string, from: number): number {
    let end = from;
    for (; end < text.length; end += 1) {
      const code = text.charCodeAt(end);
      if (code === this.#delimiter || code === lineFeed || code === carriageReturn) break;
    }
    this.#place = 'bare';
    this.#add(text.slice(from, end));
    return end;
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#rowLength + this.#text.length > this.#limit) throw new CsvSyntaxError(true);
  }

  #endCell(): void {
    const isQuoted = this.#place === 'closed';
    this.#cells.push(isQuoted ? this.#text : bareCell(this.#text));
    this.#rowLength += this.#text.length + 1;
    this.#text = '';
    this.#place = 'begin';
    if (this.#rowLength > this.#limit) throw new CsvSyntaxError(true);
  }

  #endRow(rows: Cell[][]): void {
    this.#endCell();
    rows.push(this.#cells);
    this.#cells = [];
    this.#rowLength = 0;
  }
}

function bareCell(text: string): Cell {
  if (text === '') return undefined;
  return text === nullCell ? null : text;
}
