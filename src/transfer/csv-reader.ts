/** Reads CSV (RFC 4180): the first row has the names of the fields, and each further row the fields of an entity. */
import { isUtf8 } from 'node:buffer';
import { finished } from 'node:stream/promises';
import { CsvError, parse, type Parser } from 'csv-parse';
import type { EntityType } from '../entity-types/types.ts';
import { GrowingBuffer } from '../http/growing-buffer.ts';
import { Pauses } from '../http/turns.ts';
import { CsvHeader, type Cell } from './csv-header.ts';
import { nullCell } from './columns.ts';
import { malformedRow, refusedRow, tooLarge, UnreadableError, type ImportRow } from './import-row.ts';

const lineFeed = 10;
/** Parsed in one turn of the event loop: empty cells take 15 ms. */
const sliceBytes = 65_536;

export interface CsvFormat {
  delimiter: ',' | ';' | '\t';
  /** The type whose fields decide how cells are read; undefined for a name without one. */
  type: EntityType | undefined;
  /** Bytes of a row. */
  limitBytes: number;
}

/** The rows of each chunk. Throws {@link UnreadableError} for a header or a quote that is wrong, and for bytes that are not UTF-8. */
export async function* readCsv(chunks: AsyncIterable<Buffer>, format: CsvFormat): AsyncGenerator<ImportRow[]> {
  const rows = new CsvRows(format);
  try {
    for await (const block of blocksOf(chunks, format.limitBytes)) {
      yield await rows.take(block);
    }
    yield await rows.end();
  } finally {
    rows.close();
  }
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
  readonly #parser: Parser;
  #header: CsvHeader | undefined;
  #rows: ImportRow[] = [];
  /** The row of the file that was read last. */
  #row = 0;
  #failure: unknown;

  constructor(format: CsvFormat) {
    this.#format = format;
    this.#parser = parse({
      bom: true,
      cast: (text, { quoting }) => (quoting ? text : cellOf(text)) as string,
      delimiter: format.delimiter,
      max_record_size: format.limitBytes,
      on_record: (cells: Cell[]) => this.#read(cells),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
    });
    this.#parser.on('error', () => undefined).resume();
  }

  async take(block: Buffer): Promise<ImportRow[]> {
    if (isUtf8(block)) return await this.#parse(block);
    const before = beforeInvalid(block);
    const rows = before.length > 0 ? await this.#parse(before) : [];
    rows.push(...(await this.#flush()));
    this.#failure ??= this.#invalidEncoding();
    if (rows.length === 0) this.#throwFailure();
    return rows;
  }

  async end(): Promise<ImportRow[]> {
    this.#throwFailure();
    const rows = await this.#flush();
    this.#throwFailure();
    return rows;
  }

  close(): void {
    this.#parser.destroy();
  }

  async #parse(block: Buffer): Promise<ImportRow[]> {
    this.#throwFailure();
    try {
      const pauses = new Pauses();
      for (let from = 0; from < block.length; from += sliceBytes) {
        await pauses.whenLong();
        await this.#write(block.subarray(from, from + sliceBytes));
      }
    } catch (error) {
      // The rows before it come first.
      this.#failure ??= this.#unreadable(error);
    }
    const rows = this.#taken();
    if (rows.length === 0) this.#throwFailure();
    return rows;
  }

  #write(slice: Buffer): Promise<void> {
    return new Promise((resolve, reject) => this.#parser.write(slice, (error) => (error ? reject(error) : resolve())));
  }

  /** The rows of which the parser was not yet certain that they had ended. */
  async #flush(): Promise<ImportRow[]> {
    if (!this.#parser.destroyed) {
      this.#parser.end();
      await finished(this.#parser).catch(() => undefined);
    }
    if (this.#parser.errored) this.#failure ??= this.#unreadable(this.#parser.errored);
    return this.#taken();
  }

  #taken(): ImportRow[] {
    return this.#rows.splice(0);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #invalidEncoding(): UnreadableError {
    return new UnreadableError(this.#row + 1, malformedRow({ pointer: '', code: 'invalid-encoding' }));
  }

  #unreadable(error: unknown): unknown {
    if (!(error instanceof CsvError)) return error;
    const problem =
      error.code === 'CSV_MAX_RECORD_SIZE' ? tooLarge(this.#format.limitBytes) : malformedRow({ pointer: '', code: 'invalid-csv' });
    return new UnreadableError(this.#row + 1, problem);
  }

  /** Called for each row, while a block is parsed. Nothing is passed on. */
  #read(cells: Cell[]): undefined {
    this.#row += 1;
    if (this.#failure !== undefined) return;
    if (!this.#header) {
      try {
        this.#header = new CsvHeader(cells, this.#format.type);
      } catch (error) {
        this.#failure = error;
      }
      return;
    }
    if (cells.length === 1 && cells[0] === undefined && this.#header.length > 1) return;
    const expected = { kind: 'value', values: { value: String(this.#header.length) } } as const;
    if (cells.length === this.#header.length) this.#rows.push(this.#header.row(this.#row, cells));
    else this.#rows.push(refusedRow(this.#row, { pointer: '', code: 'cell-count', expected }));
  }
}

/** Where the last character begins, which may not have arrived as a whole. */
function lastCharacter(bytes: Buffer): number {
  let index = bytes.length - 1;
  while (index > 0 && ((bytes[index] ?? 0) & 0b1100_0000) === 0b1000_0000) index -= 1;
  return index;
}

/** The value of a cell without quotes. */
function cellOf(text: string): Cell {
  if (text === '') return undefined;
  return text === nullCell ? null : text;
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
