/** Exports of all entities of a name, as streams. */
import type { Problem } from '../../generated/client/types.gen.ts';
import type { Entity } from './entities.ts';
import { ApiError, ClientError } from './errors.ts';
import { exactJson } from './exact-json.ts';
import type { EntityFilter } from './list.ts';
import type { CallOptions, Client } from './operation.ts';
import { valueOf, type Result } from './result.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface ExportOptions<T extends object> extends Omit<CallOptions, 'retry'> {
  filter?: EntityFilter<T>;
  /** The fields to send, with dots into objects; by default all. */
  fields?: readonly string[];
}

export interface ExportFileOptions<T extends object> extends ExportOptions<T> {
  /** `ndjson` by default. */
  format?: 'ndjson' | 'csv';
  /** CSV: puts an apostrophe in front of texts that a spreadsheet would take for formulas. */
  csvSafe?: boolean;
}

/** The last line of NDJSON. */
interface Trailer {
  $complete: boolean;
  entities: number;
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
    const value = JSON.parse(line) as Entity<T> | Trailer;
    if (!('$complete' in value)) yield value;
    else if (value.$complete) return;
    else throw failureOf(value);
  }
  throw new ClientError('answer');
}

/** Writes an export into `target`. */
export async function exportTo<T extends object>(
  client: Client,
  name: string,
  target: WritableStream<Bytes>,
  options: ExportFileOptions<T>,
): Promise<Result<void>> {
  const opened = await open<T>(client, name, options);
  if (!opened.ok) return opened;
  const { value, status, headers } = opened;
  try {
    const end = new LastLine();
    await value.pipeThrough(end.reader).pipeTo(target);
    const trailer = options.format === 'csv' ? undefined : (JSON.parse(end.text) as Trailer);
    return trailer?.$complete === false ? { ok: false, error: failureOf(trailer) } : { ok: true, value: undefined, status, headers };
  } catch (cause) {
    return { ok: false, error: new ClientError(options.signal?.aborted ? 'aborted' : 'network', { cause }) };
  }
}

function open<T extends object>(client: Client, name: string, options: ExportFileOptions<T>): Promise<Result<ReadableStream<Bytes>>> {
  const { filter, fields, format = 'ndjson', csvSafe, ...call } = options;
  const query = {
    format,
    ...(filter && { filter: exactJson(filter) }),
    ...(fields && { fields: fields.join() }),
    ...(csvSafe && { csvSafe: 'true' }),
  };
  return client.stream('GET', { url: '/rest/entity/{name}/export', path: { name }, query, security: [{}], ...call });
}

const failureOf = ({ problem }: Trailer): Error & (ApiError | ClientError) => (problem ? new ApiError(problem) : new ClientError('answer'));

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
