/** Exports and imports of all entities of a name, as streams. */
import type { Fault, Problem } from '../../generated/client/types.gen.ts';
import type { Entity } from './entity.ts';
import { ApiError, ClientError, type ApiErrorCode } from './errors.ts';
import { exactJson } from './exact-json.ts';
import type { EntityFilter } from './list.ts';
import type { CallOptions, Client } from './operation.ts';
import { valueOf, type Result } from './result.ts';

type Bytes = Uint8Array<ArrayBuffer>;
const linesOfChunk = 100;

export interface ExportOptions<T extends object> extends Omit<CallOptions, 'retry'> {
  filter?: EntityFilter<T>;
  /** Words that the entities must have, in the fields that the type searches. */
  search?: string;
  /** Up to four fields, with dots into objects and `-` in front for descending; by key without them. */
  sort?: readonly string[];
  /** The fields to send, with dots into objects; by default all. */
  fields?: readonly string[];
}

export interface ExportFileOptions<T extends object> extends ExportOptions<T> {
  /** `ndjson` by default. */
  format?: 'ndjson' | 'csv';
  /** CSV: puts an apostrophe in front of texts that a spreadsheet would take for formulas. */
  csvSafe?: boolean;
  /** Between the cells of CSV; `comma` by default. */
  delimiter?: 'comma' | 'semicolon' | 'tab';
  /** CSV: begins with a byte order mark, by which Excel recognises UTF-8. */
  bom?: boolean;
}

/** What is imported: a file as it is, or the fields of entities. In browsers a file that is no stream needs no HTTP/2. */
export type ImportSource<T extends object> = ReadableStream<Bytes> | Blob | Iterable<T> | AsyncIterable<T>;

export interface ImportOptions extends Omit<CallOptions, 'retry'> {
  /** Of a file; `ndjson` by default. */
  format?: 'ndjson' | 'csv';
  /**
   * The fields of a rule in `x-unique`, with dots into objects, or `['$key']`: entities with the values of a row are updated. Otherwise each row is created.
   */
  by?: readonly string[];
  /** Whether the members of a row replace those of the entity, by default, are all fields of the entity, or are merged into them as an update is. */
  mode?: 'update' | 'replace' | 'merge';
  /** Reports what would be done, and writes nothing. */
  dryRun?: boolean;
  /** The first row that counts; 1 by default. */
  fromRow?: number;
  /** Between the cells of CSV; `comma` by default. */
  delimiter?: 'comma' | 'semicolon' | 'tab';
  /** CSV: removes the apostrophes that an export with `csvSafe` has written. */
  csvSafe?: boolean;
  /** `keep`: keys and versions of a file that another database has exported count here. Rows with such references are refused otherwise. */
  keys?: 'keep';
}

/** A row that was refused, or several in a row for the same reason. */
export interface RefusedRow {
  done?: undefined;
  /** A line of NDJSON, from 1; the header of CSV is row 1. */
  row: number;
  /** The last of the rows, if they are more than one. */
  toRow?: number;
  /** The row of the same file that has the same value of a unique rule. */
  duplicateOf?: number;
  status: number;
  code: ApiErrorCode;
  detail: string;
  errors?: Fault[];
}

/** The work that is done up to a row. */
export interface ImportProgress {
  /** Whether the file was read to its end. */
  done: boolean;
  row: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** The members of objects that updates have removed. */
  removedFields: number;
  /** The names of the columns that count for nothing. */
  ignored?: string[];
  /** Where the log of the database is after this, if the service has a standby. Later reads of the client send it. */
  consistencyToken?: string;
  /** Why the import has ended early. */
  problem?: Problem;
  /** The last row that may have been written, where the outcome of a transaction is unknown. */
  uncertainTo?: number;
}

/** What an export of NDJSON says in its last line; CSV says nothing. */
export interface ExportEnd {
  entities?: number;
  /** The export has all changes up to this position, which `get` takes as `asOf`, and may have later ones. */
  position?: string;
  /** The caller may not read all entities of the name, so there may be others. */
  partial?: true;
  /** The name of the database, which each line has too. */
  database?: string;
}

/** The last line of NDJSON. */
interface Trailer extends ExportEnd {
  $complete: boolean;
  problem?: Problem;
}

/** The entities of an export. Throws the errors of the request, and that of an export which is not complete. */
export async function* exportEntities<T extends object>(
  client: Client,
  name: string,
  options: ExportOptions<T>,
): AsyncGenerator<Entity<T>, void> {
  const stream = valueOf(await open<T>(client, name, options));
  for await (const line of linesOf(stream)) {
    const { database: _, ...value } = JSON.parse(line) as (Entity<T> | Trailer) & Pick<Trailer, 'database'>;
    if (!('$complete' in value)) yield value;
    else if (value.$complete) return;
    else throw failureOf(value.problem);
  }
  throw new ClientError('answer');
}

/** Writes an export into `target`. */
export async function exportTo<T extends object>(
  client: Client,
  name: string,
  target: WritableStream<Bytes>,
  options: ExportFileOptions<T>,
): Promise<Result<ExportEnd>> {
  const opened = await open<T>(client, name, options);
  if (!opened.ok) return opened;
  const { value, status, headers } = opened;
  try {
    const end = new LastLine();
    await value.pipeThrough(end.reader).pipeTo(target);
    if (options.format === 'csv') return { ok: true, value: {}, status, headers };
    const { $complete, problem, ...last } = JSON.parse(end.text) as Trailer;
    return $complete ? { ok: true, value: last, status, headers } : { ok: false, error: failureOf(problem) };
  } catch (cause) {
    return { ok: false, error: new ClientError(options.signal?.aborted ? 'aborted' : 'network', { cause }) };
  }
}

/** The longest query of a URL, in characters. A longer one is sent in the body. */
const longestQuery = 4_000;

function open<T extends object>(client: Client, name: string, options: ExportFileOptions<T>): Promise<Result<ReadableStream<Bytes>>> {
  const { filter, search, sort, fields, format = 'ndjson', csvSafe, delimiter, bom, ...call } = options;
  const query = {
    format,
    ...(filter && { filter: exactJson(filter) }),
    ...(search !== undefined && { search }),
    ...(sort && { sort: sort.join() }),
    ...(fields && { fields: fields.join() }),
    ...(csvSafe && { csvSafe: 'true' }),
    ...(delimiter && { delimiter }),
    ...(bom && { bom: 'true' }),
  };
  const request = { url: '/rest/entity/{name}/export', path: { name }, security: [{}], ...call };
  if (new URLSearchParams(query).toString().length <= longestQuery) return client.stream('GET', { ...request, query });
  const body = exactJson({ format, filter, search, sort, fields, csvSafe, delimiter, bom });
  return client.stream('POST', { ...request, headers: { 'Content-Type': 'application/json' }, body: new Blob([body]) });
}

const failureOf = (problem: Problem | undefined): Error & (ApiError | ClientError) =>
  problem ? new ApiError(problem) : new ClientError('answer');

/** The report of an import. Throws the errors of the request, and after the last progress that of an import which has ended early. */
export async function* importEntities<T extends object>(
  client: Client,
  name: string,
  source: ImportSource<T>,
  options: ImportOptions,
): AsyncGenerator<RefusedRow | ImportProgress, void> {
  const { format = 'ndjson', by, mode, dryRun, fromRow, delimiter, csvSafe, keys, ...call } = options;
  const isFile = source instanceof ReadableStream || source instanceof Blob;
  const query = {
    ...(by && { by: by.join() }),
    ...(mode && { mode }),
    ...(dryRun && { dryRun: 'true' }),
    ...(fromRow !== undefined && { fromRow: String(fromRow) }),
    ...(delimiter && { delimiter }),
    ...(csvSafe && { csvSafe: 'true' }),
    ...(keys && { keys }),
  };
  const headers = { 'Content-Type': isFile && format === 'csv' ? 'text/csv' : 'application/x-ndjson', Accept: 'application/x-ndjson' };
  const request = { url: '/rest/entity/{name}/import', path: { name }, query, headers, security: [{}], ...call };
  const stream = valueOf(await client.stream('POST', { ...request, body: isFile ? source : linesFrom(source) }));
  for await (const line of linesOf(stream)) {
    const report = JSON.parse(line) as RefusedRow | ImportProgress;
    if ('consistencyToken' in report) client.consistency.storeToken(report.consistencyToken);
    yield report;
    if (report.done) return;
    if ('problem' in report && report.problem) throw new ApiError(report.problem);
  }
  throw new ClientError('network');
}

/** Each of the fields as a line of JSON. */
function linesFrom(source: Iterable<object> | AsyncIterable<object>): ReadableStream<Bytes> {
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Bytes>({
    async pull(controller) {
      let text = '';
      for (let count = 0; count < linesOfChunk; count += 1) {
        const { done, value } = await items.next();
        if (done) {
          if (text !== '') controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += `${exactJson(value)}\n`;
      }
      controller.enqueue(encoder.encode(text));
    },
    async cancel() {
      await items.return?.();
    },
  });
}

/** The lines of a stream of UTF-8 text, without empty ones. */
export async function* linesOf(stream: ReadableStream<Bytes>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield line;
      if (done) break;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Keeps the last line of what passes through it. */
class LastLine {
  #parts: Bytes[] = [];

  readonly reader = new TransformStream<Bytes, Bytes>({
    transform: (bytes, controller) => {
      controller.enqueue(bytes);
      const before = bytes.lastIndexOf(10, bytes.at(-1) === 10 ? bytes.length - 2 : bytes.length - 1);
      if (before === -1) this.#parts.push(bytes);
      else this.#parts = [bytes.subarray(before + 1)];
    },
  });

  get text(): string {
    const decoder = new TextDecoder();
    return this.#parts.map((part) => decoder.decode(part, { stream: true })).join('');
  }
}
