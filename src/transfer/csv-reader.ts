/** Reads CSV: the first row has the names of the fields, and each further row the fields of an entity. */
import { isUtf8 } from 'node:buffer';
import type { Problem } from '../problems/errors.ts';
import type { EntityType } from '../entity-types/types.ts';
import { GrowingBuffer } from '../json/growing-buffer.ts';
import { Pauses } from '../admission/turns.ts';
import { CsvCells, CsvSyntaxError, type Cell } from './csv-cells.ts';
import { delimiters, type Delimiter, type ReferenceTargets } from './columns.ts';
import { CsvHeader } from './csv-header.ts';
import { sizeProblem, validationProblem } from '../entities/writing/rules.ts';
import { malformedRow, UnreadableError, type ImportRow, type ImportRows } from './import-row.ts';

const lineFeed = 10;
/** A program may write one in front of a file that has one. */
const byteOrderMarks = /^\uFEFF+/;
/** Divided into cells in one turn of the event loop, in characters: empty cells take a millisecond. */
const sliceLength = 16_384;

export interface CsvFormat {
  delimiter: Delimiter;
  /** The type whose fields decide how cells are read; undefined for a name without one. */
  type: EntityType | undefined;
  /** Of the type. */
  targets: ReferenceTargets;
  /** Bytes of a row. */
  limitBytes: number;
  /** Whether an export with `csvSafe` has made the file, so that its apostrophes are removed. */
  isSafe: boolean;
}

/**
 * The rows of each part of the file. Throws {@link UnreadableError} for a header or a quote that is wrong, and for bytes that are not UTF-8; the rows before it come
 * first.
 */
export function readCsv(chunks: AsyncIterable<Buffer>, format: CsvFormat): ImportRows {
  const rows = new CsvRows(format);
  return { batches: rows.readAll(chunks), ignored: () => rows.ignored };
}

/** The same bytes in blocks of whole lines, or of a line that is too long, so that no character is divided. */
async function* blocksOf(chunks: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Buffer> {
  const begun = new GrowingBuffer();
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    begun.append(chunk.subarray(0, end));
    if (end > 0) yield begun.take();
    begun.append(chunk.subarray(end));
    // What is too long for a row is refused as one.
    if (begun.length > limitBytes) {
      const bytes = begun.take();
      const end = lastCharacter(bytes);
      yield bytes.subarray(0, end);
      begun.append(bytes.subarray(end));
    }
  }
  if (begun.length > 0) yield begun.take();
}

class CsvRows {
  readonly #format: CsvFormat;
  readonly #cells: CsvCells;
  #header: CsvHeader | undefined;
  /** The row of the file that was read last. */
  #row = 0;
  #isBegun = false;

  constructor(format: CsvFormat) {
    this.#format = format;
    this.#cells = new CsvCells(delimiters[format.delimiter], format.limitBytes);
  }

  /** The names of the columns that count for nothing. */
  get ignored(): readonly string[] {
    return this.#header?.ignored ?? [];
  }

  async *readAll(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRow[]> {
    for await (const block of blocksOf(chunks, this.#format.limitBytes)) {
      const valid = isUtf8(block) ? block : beforeInvalid(block);
      yield* this.#parse(valid.toString());
      if (valid.length < block.length) throw new UnreadableError(this.#row + 1, malformedRow({ pointer: '', code: 'invalid-encoding' }));
    }
    yield* this.#rowsOf((rows) => this.#cells.end(rows), new Pauses());
  }

  async *#parse(block: string): AsyncGenerator<ImportRow[]> {
    const pauses = new Pauses();
    const text = this.#isBegun ? block : block.replace(byteOrderMarks, '');
    this.#isBegun ||= block.length > 0;
    for (let from = 0; from < text.length; from += sliceLength) {
      await pauses.whenLong();
      yield* this.#rowsOf((rows) => this.#cells.read(text.slice(from, from + sliceLength), rows), pauses);
    }
  }

  /** The rows that `read` adds to its array, before it may throw. */
  async *#rowsOf(read: (rows: Cell[][]) => void, pauses: Pauses): AsyncGenerator<ImportRow[]> {
    const found: Cell[][] = [];
    let failure: CsvSyntaxError | undefined;
    try {
      read(found);
    } catch (error) {
      if (!(error instanceof CsvSyntaxError)) throw error;
      failure = error;
    }
    const rows: ImportRow[] = [];
    for (const cells of found) {
      await pauses.whenLong();
      rows.push(...(await this.#rowOf(cells)));
    }
    yield rows;
    if (!failure) return;
    throw new UnreadableError(this.#row + 1, this.#problemOf(failure));
  }

  #problemOf({ isTooLong, behindQuote }: CsvSyntaxError): Problem {
    if (isTooLong) return sizeProblem(this.#format.limitBytes);
    const other = Object.entries(delimiters).find(([, character]) => character === behindQuote)?.[0];
    if (this.#header || other === undefined) return malformedRow({ pointer: '', code: 'invalid-csv' });
    // The names of the header are in quotes, with another delimiter between them.
    return validationProblem([{ pointer: '', position: 1, code: 'other-delimiter', values: { delimiter: other } }]);
  }

  /** Nothing for the header, and for a row of empty cells. */
  async #rowOf(cells: readonly Cell[]): Promise<ImportRow[]> {
    this.#row += 1;
    if (this.#header?.isBlank(cells) ?? cells.every((cell) => cell === undefined)) return [];
    if (this.#header) return [this.#header.row(this.#row, cells)];
    this.#header = await CsvHeader.read(this.#row, cells, this.#format);
    return [];
  }
}

/** Where the last character begins, which may not have arrived as a whole. */
function lastCharacter(bytes: Buffer): number {
  let index = bytes.length - 1;
  while (index > 0 && ((bytes[index] ?? 0) & 0b1100_0000) === 0b1000_0000) index -= 1;
  return index;
}

/** The lines in front of the first that is not UTF-8. */
function beforeInvalid(block: Buffer): Buffer {
  let from = 0;
  for (;;) {
    const end = block.indexOf(lineFeed, from) + 1;
    if (end === 0 || !isUtf8(block.subarray(from, end))) return block.subarray(0, from);
    from = end;
  }
}
