/** Makes the document of a type from a JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12, or from a schema of OpenAPI (decision 277). */
import { basename, extname } from 'node:path';
import { pathOf, pointerTo } from '../../problems/pointer.ts';
import { describeFault } from '../../locales/describe.ts';
import { faultsOfContradictions } from '../contradictions.ts';
import { faultsOfDocument } from '../document.ts';
import { isSchemaObject, type Schema } from '../subschemas.ts';
import { conversionOf } from './conversions.ts';
import { dialectOf, isOpenApi, schemaPointersIn } from './dialect.ts';
import { placeText, SchemaSources, type SchemaFile, type SourcePlace } from './sources.ts';

/** A note or an error about one place of a file. */
export interface ConversionNote {
  /** A JSON pointer, behind the name of a file that is not the first. */
  place: string;
  text: string;
}

export interface Conversion {
  /** What `types apply` takes, unless there are faults. */
  document: Schema;
  /** Each thing that was changed or dropped. */
  notes: ConversionNote[];
  /** The reason for which the place cannot be converted, and the remedy. */
  faults: ConversionNote[];
  /** Places that a request may not have, although a file may. */
  refusedInRequests: ConversionNote[];
}

const currentDialect = 'https://json-schema.org/draft/2020-12/schema';
/** The keywords that have no effect beside `$ref` in every draft. */
const besideReference = new Set(['$ref', '$schema', '$id', 'id', 'definitions', '$defs', 'title', 'description', '$comment', 'examples']);
const references = new Set(['$ref', '$recursiveRef', '$dynamicRef']);

/** Converts the schema at the pointer `at` of the first file. References may lead into the `others`, by `$id` or by the name of the file. */
export function convertSchema(first: SchemaFile, others: readonly SchemaFile[], at: string | undefined): Conversion {
  const faults = [first, ...others]
    .filter(({ document }) => !dialectOf(document))
    .map((file) => ({ place: placeText({ file, path: ['$schema'] }, first), text: 'is draft 3 or older. Convert it to draft 4 first' }));
  const sources = new SchemaSources([first, ...others]);
  const isWhole = at === undefined;
  if (isWhole && isOpenApi(first.document)) faults.push({ place: '', text: adviceOf(first.document) });
  const root = faults.length > 0 ? undefined : sources.at(first, at ?? '');
  if (faults.length === 0 && !root) faults.push({ place: at ?? '', text: 'is no place of the file' });
  if (root && !isSchemaObject(root.value)) faults.push({ place: at ?? '', text: 'is no object. The fields of an entity are an object' });
  if (faults.length > 0 || !root) return { document: {}, notes: [], faults, refusedInRequests: [] };
  return new SchemaConversion(sources, first, root).convert(isWhole);
}

function adviceOf(document: unknown): string {
  const pointers = schemaPointersIn(document);
  const more = pointers.length > 10 ? ` and ${pointers.length - 10} more` : '';
  return `is an OpenAPI document with many schemas. Name one with --at: ${pointers.slice(0, 10).join(', ')}${more}`;
}

class SchemaConversion {
  readonly #sources: SchemaSources;
  readonly #first: SchemaFile;
  readonly #root: SourcePlace;
  readonly #notes: ConversionNote[] = [];
  readonly #faults: ConversionNote[] = [];
  /** The names in `$defs`, by the schema. */
  readonly #names = new Map<unknown, string>();
  readonly #waiting: SourcePlace[] = [];
  /** By converted schema: the place that it comes from. */
  readonly #origins = new Map<unknown, SourcePlace>();

  constructor(sources: SchemaSources, first: SchemaFile, root: SourcePlace) {
    this.#sources = sources;
    this.#first = first;
    this.#root = root;
  }

  /** `isWhole`: definitions to which nothing refers are reported. */
  convert(isWhole: boolean): Conversion {
    const top = this.#convert(this.#root) as Schema;
    const definitions = new Map<string, unknown>();
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) definitions.set(this.#nameOf(next), this.#convert(next));
    const { $schema } = isSchemaObject(this.#root.value) ? this.#root.value : {};
    if ($schema !== undefined && $schema !== currentDialect) this.#note(this.#root, '$schema', dialectNote($schema));
    if (isWhole) this.#reportDefinitions();
    const document = {
      ...($schema !== undefined && { $schema: currentDialect }),
      ...top,
      ...(definitions.size > 0 && { $defs: Object.fromEntries(definitions) }),
    };
    if (this.#faults.length === 0) this.#faults.push(...this.#faultsOf(document, 'command'));
    const refusedInRequests = this.#faults.length === 0 ? this.#faultsOf(document, 'api') : [];
    return { document, notes: this.#notes, faults: this.#faults, refusedInRequests };
  }

  #convert(place: SourcePlace): unknown {
    const { value: schema, dialect } = place;
    if (!isSchemaObject(schema)) return schema;
    const isRoot = schema === this.#root.value;
    const isReference = dialect.ignoresBesideRef && '$ref' in schema;
    const converted: Schema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (isReference && !besideReference.has(keyword))
        this.#note(place, keyword, `dropped: it has no effect beside $ref in ${dialect.name}`);
      else if (references.has(keyword)) addMembers(converted, this.#reference(place, keyword, value));
      else {
        const members = conversionOf(keyword, dialect)(value, {
          keyword,
          schema,
          dialect,
          isRoot,
          note: (text) => this.#note(place, keyword, text),
          refuse: (text) => this.#refuse(place, keyword, text),
          inner: (inner, ...steps) => this.#inner(place, inner, [keyword, ...steps]),
        });
        addMembers(converted, members);
      }
    }
    this.#origins.set(converted, place);
    return converted;
  }

  #inner(outer: SourcePlace, schema: unknown, steps: readonly string[]): unknown {
    const path = [...outer.path, ...steps];
    const known = this.#sources.at(outer.file, pointerTo(path));
    return this.#convert(known && known.value === schema ? known : { ...outer, path, value: schema });
  }

  #reference(place: SourcePlace, keyword: string, value: unknown): Schema {
    const target = typeof value === 'string' ? this.#sources.target(value, place) : undefined;
    if (keyword !== '$ref' && this.#sources.isDivided) {
      this.#refuse(place, keyword, 'may lead to several places, because schemas here have addresses of their own. Write $ref instead');
      return {};
    }
    if (!target) {
      this.#refuse(place, keyword, unresolved(value));
      return {};
    }
    const reference = target.value === this.#root.value ? '#' : `#/$defs/${this.#nameOf(target)}`;
    const isMoved = /^#\/(definitions|\$defs)\/[^/]+$/.test(String(value)) && target.file === place.file;
    if (reference !== value && !isMoved) this.#note(place, keyword, `became ${reference}`);
    return { $ref: reference };
  }

  /** The name in `$defs` of what a reference leads to. */
  #nameOf(target: SourcePlace): string {
    const id = typeof target.value === 'object' ? target.value : placeText(target, this.#first);
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const wanted = nameAtEnd(target);
    const taken = new Set(this.#names.values());
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}${number}`;
    this.#names.set(id, name);
    this.#waiting.push(target);
    return name;
  }

  #reportDefinitions(): void {
    for (const keyword of ['definitions', '$defs']) {
      const found = isSchemaObject(this.#root.value) ? this.#root.value[keyword] : undefined;
      if (!isSchemaObject(found)) continue;
      if (keyword === 'definitions') this.#note(this.#root, keyword, 'became $defs');
      for (const [name, schema] of Object.entries(found))
        if (typeof schema === 'object' && !this.#names.has(schema)) this.#note(this.#root, keyword, 'dropped: nothing refers to it', name);
    }
  }

  /** The faults of the converted document, at the places that they come from. */
  #faultsOf(document: Schema, source: 'command' | 'api'): ConversionNote[] {
    const faults = faultsOfDocument(document, source);
    const found = faults.length > 0 ? faults : faultsOfContradictions(document, undefined);
    return found.map((fault) => ({ place: this.#originOf(document, fault.pointer ?? ''), text: describeFault('en', fault).detail }));
  }

  #originOf(document: Schema, pointer: string): string {
    const path = pathOf(pointer);
    let [value, origin, from]: [unknown, SourcePlace, number] = [document, this.#root, 0];
    for (const [index, step] of path.entries()) {
      value = typeof value === 'object' && value !== null ? (value as Schema)[step] : undefined;
      const found = this.#origins.get(value);
      if (found) [origin, from] = [found, index + 1];
    }
    return placeText({ file: origin.file, path: [...origin.path, ...path.slice(from)] }, this.#first);
  }

  #note({ file, path }: SourcePlace, keyword: string, text: string, ...steps: string[]): void {
    this.#notes.push({ place: placeText({ file, path: [...path, keyword, ...steps] }, this.#first), text });
  }

  #refuse({ file, path }: SourcePlace, keyword: string, text: string): void {
    this.#faults.push({ place: placeText({ file, path: [...path, keyword] }, this.#first), text });
  }
}

function dialectNote($schema: unknown): string {
  const isKnown = typeof $schema === 'string' && /^https?:\/\/(json-schema|spec\.openapis)\.org\//.test($schema);
  return isKnown ? 'became 2020-12' : 'became 2020-12: rules of a dialect of its own are not read';
}

function unresolved(reference: unknown): string {
  if (typeof reference === 'string' && !reference.startsWith('#'))
    return `leads to ${reference}, which is not in the file. Name the file that has it behind this one; nothing is fetched`;
  return `leads to ${JSON.stringify(reference)}, which does not exist. Correct it`;
}

/** A name for `$defs` that each reader of pointers understands. */
function nameAtEnd({ file, path }: SourcePlace): string {
  const end = path.at(-1) ?? basename(file.name, extname(file.name));
  const name = end.replaceAll(/[^\p{L}\p{N}_.$-]+/gu, '_');
  const isPlain = /^[\p{L}_]/u.test(name) && !['__proto__', 'constructor', 'prototype'].includes(name);
  return isPlain ? name : `${path.at(-2)?.replaceAll(/\W+/g, '_') ?? 'schema'}_${name}`;
}

/**
 * Adds members, all of which must hold. A keyword that is there already stays, and the new one goes into `allOf`: two `not`, for example, or `dependentRequired` beside
 * what `dependencies` became.
 */
function addMembers(schema: Schema, members: Schema): void {
  for (const [keyword, value] of Object.entries(members)) {
    if (!Object.hasOwn(schema, keyword) || keyword === '$id') schema[keyword] = value;
    else if (keyword === 'allOf' && Array.isArray(value)) schema['allOf'] = [schema['allOf'], value].flat();
    else addMembers(schema, { allOf: [{ [keyword]: value }] });
  }
}
