/** `types convert`: a schema from elsewhere becomes the document of a type. It needs no database. */
import { readFile, writeFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { ConfigError } from '../config/settings.ts';
import { convertSchema, type ConversionNote } from '../entity-types/convert/convert.ts';
import type { SchemaFile } from '../entity-types/convert/sources.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Desk } from './command.ts';
import { printableText, Refusal, toJson, type CommandOutcome } from './output.ts';

export interface ConvertOptions {
  at?: string;
  out?: string;
}

/** The places that a note names at most. */
const namedPlaces = 5;

/**
 * Converts the first file; its references may lead into the others. Prints a note for each thing that is changed or dropped. Throws {@link ConfigError} with a line for
 * each that cannot be converted, and {@link Refusal} for a file that cannot be read, or for `--out` of a file that exists.
 */
export async function convertFiles(desk: Desk, names: readonly string[], { at, out }: ConvertOptions): Promise<CommandOutcome> {
  const [first, ...others] = await Promise.all(names.map((name) => readSchemaFile(desk, name)));
  if (!first) throw new Refusal('name a file', 2);
  const { document, notes, faults, refusedInRequests } = convertSchema(first, others, at?.replace(/^#/, ''));
  const lines = notes.map(lineOf);
  for (const line of lines) desk.errors.write(`note: ${line}\n`);
  if (faults.length > 0) throw new ConfigError(faults.map(lineOf));
  const isYaml = out !== undefined && /\.ya?ml$/.test(out);
  const text = isYaml ? stringify(document) : toJson(document);
  if (out !== undefined) await writeNew(out, text);
  return {
    document: { converted: document, notes },
    text: out === undefined ? text : `Wrote ${out}. Plan it under the name of its entities: types plan <name>.json`,
    ...(refusedInRequests.length > 0 && { note: noteOfRequests(refusedInRequests) }),
  };
}

async function readSchemaFile({ input }: Desk, name: string): Promise<SchemaFile> {
  try {
    const text = name === '-' ? await readText(input) : await readFile(name, 'utf8');
    return { name, document: readValue(text.replace(/^\uFEFF/, ''), name) };
  } catch (error) {
    throw new Refusal(
      printableText(`${name} cannot be read: ${(error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ')}`),
    );
  }
}

/** YAML has JSON, but not its exact errors. */
function readValue(text: string, name: string): unknown {
  const isJson = name.endsWith('.json') || /^\s*[[{]/.test(text);
  return isJson ? parseJson(text) : parse(text);
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text.endsWith('\n') ? text : `${text}\n`, { flag: 'wx' });
  } catch (error) {
    const isPresent = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new Refusal(isPresent ? `${file} exists already: name another file` : `${file} cannot be written: ${(error as Error).message}`);
  }
}

const lineOf = ({ place, text }: ConversionNote): string => printableText(`${place || 'the document'}: ${text}`);

function noteOfRequests(places: readonly ConversionNote[]): string {
  const named = places.slice(0, namedPlaces).map(lineOf).join('; ');
  const more = places.length > namedPlaces ? `; and ${places.length - namedPlaces} more places` : '';
  return `files and commands can declare this, but a request cannot: ${named}${more}`;
}
