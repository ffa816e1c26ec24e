/** Reads NDJSON: a JSON object in each line. Empty lines count, and have no row. */
import type { Fault } from '../problems/faults.ts';
import { readJson } from '../json/json.ts';
import { memberTexts } from '../json/json-parts.ts';
import { GrowingBuffer } from '../json/growing-buffer.ts';
import { pointerTo } from '../problems/pointer.ts';
import { Pauses } from '../admission/turns.ts';
import { sizeProblem, validationProblem } from '../entities/writing/rules.ts';
import { malformedRow, refusedRow, rowLimits, type ImportRow, type ImportRows } from './import-row.ts';

const lineFeed = 10;
/** The members of an entity, as an export has it in a line. */
const entityMembers = ['createdAt', 'createdBy', 'fields', 'key', 'name', 'updatedAt', 'updatedBy', 'version'].join();
/** A line of an export has the members of an entity around the fields. */
const entityLimits = { ...rowLimits, depth: rowLimits.depth + 1, values: rowLimits.values + 16 };

/** The most bytes of these members without the fields. The names of two users have up to 128 characters each. */
const envelopeBytes = 4_096;

/** The rows of each chunk. `limitBytes` are those of the fields. A line that is longer with the members of an entity is not kept in memory. */
export function readNdjson(chunks: AsyncIterable<Buffer>, limitBytes: number): ImportRows {
  return { batches: batchesOf(chunks, limitBytes), ignored: () => [] };
}

async function* batchesOf(chunks: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<ImportRow[]> {
  const lines = new Lines(limitBytes);
  for await (const chunk of chunks) {
    const rows = await lines.take(chunk);
    if (rows.length > 0) yield rows;
  }
  yield lines.end();
}

class Lines {
  /** Of the fields. */
  readonly #limitBytes: number;
  readonly #lineBytes: number;
  #row = 1;
  readonly #begun = new GrowingBuffer();
  /** Of the line, also of one that is too long to be kept. */
  #begunBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#lineBytes = limitBytes + envelopeBytes;
  }

  async take(chunk: Buffer): Promise<ImportRow[]> {
    const rows: ImportRow[] = [];
    const pauses = new Pauses();
    let from = 0;
    for (;;) {
      await pauses.whenLong();
      const end = chunk.indexOf(lineFeed, from);
      if (end === -1) break;
      rows.push(...this.#line(chunk.subarray(from, end)));
      from = end + 1;
    }
    this.#begin(chunk.subarray(from));
    return rows;
  }

  end(): ImportRow[] {
    return this.#line(Buffer.alloc(0));
  }

  #begin(part: Buffer): void {
    this.#begunBytes += part.length;
    if (this.#begunBytes > this.#lineBytes) this.#begun.take();
    else this.#begun.append(part);
  }

  #line(rest: Buffer): ImportRow[] {
    const row = this.#row++;
    const bytes = this.#begunBytes + rest.length;
    this.#begunBytes = 0;
    const begun = this.#begun.take();
    if (bytes > this.#lineBytes) return [{ row, problem: sizeProblem(this.#limitBytes) }];
    const line = begun.length > 0 ? Buffer.concat([begun, rest]) : rest;
    const read = rowOf(row, row === 1 ? withoutMark(line) : line);
    return read ? [read] : [];
  }
}

/** Without the byte order mark that some programs write. */
function withoutMark(line: Buffer): Buffer {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

/** Undefined for a line without a row. */
function rowOf(row: number, line: Buffer): ImportRow | undefined {
  if (line.length <= 1 && line.toString().trim() === '') return undefined;
  const asFields = readJson(line, rowLimits);
  const isBeyond = !('text' in asFields) && (asFields.code === 'too-deep' || asFields.code === 'too-many-values');
  const read = isBeyond ? readJson(line, entityLimits) : asFields;
  if (!('text' in read)) return refusedRow(row, read);
  const { value, text } = read;
  if (!isObject(value))
    return { row, problem: malformedRow({ pointer: '', code: 'invalid-type', expected: { kind: 'value', values: { value: 'object' } } }) };
  if ('$complete' in value && 'entities' in value)
    return value['$complete'] === true
      ? undefined
      : refusedRow(row, { pointer: '/$complete', code: 'invalid-value', values: { allowed: 'true' } });
  const { fields, key, version, database, ...others } = value as Record<string, unknown>;
  if (
    isObject(fields) &&
    Object.keys({ fields, key, version, ...others })
      .toSorted()
      .join() === entityMembers
  ) {
    const faults = faultsOfEnvelope({ key, version, database });
    if (faults.length > 0) return { row, problem: validationProblem(faults) };
    const sent = { row, fields, text: memberTexts(text).get('fields') ?? '{}' };
    return { ...sent, key: String(key), version: String(version), database: database as string | undefined, isExported: true };
  }
  return isBeyond ? refusedRow(row, asFields) : { row, fields: value, text };
}

/** A name of the database that is no text would let the keys of another one count (rule 148). Some programs write keys and versions as the other type. */
function faultsOfEnvelope({ database, ...numbers }: { key: unknown; version: unknown; database: unknown }): Fault[] {
  const faults = Object.entries(numbers)
    .filter(([, value]) => typeof value !== 'string' && typeof value !== 'number')
    .map(([name]): Fault => ({ pointer: pointerTo([name]), code: 'invalid-type', values: { allowed: 'string, number' } }));
  if (database !== undefined && typeof database !== 'string')
    faults.push({ pointer: '/database', code: 'invalid-type', values: { allowed: 'string' } });
  return faults;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
