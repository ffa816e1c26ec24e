/** Files of schemas, and what references between and inside of them lead to. Nothing else is loaded. */
import { basename, extname } from 'node:path';
import { pathOf, pointerTo } from '../../problems/pointer.ts';
import { isSchemaObject, type Schema } from '../subschemas.ts';
import { dialectOf, type Dialect } from './dialect.ts';

export interface SchemaFile {
  /** As the user has named it. */
  name: string;
  document: unknown;
}

/** A value in a file. */
export interface SourcePlace {
  file: SchemaFile;
  path: readonly string[];
  value: unknown;
  /** The address against which its references are resolved. */
  base: string;
  dialect: Dialect;
}

/** The addresses of files without `$id` are their names. */
const nameless = 'json-schema:///';
/** Keywords that have no schemas inside. */
const literal = new Set(['enum', 'const', 'default', 'examples', 'example']);

export class SchemaSources {
  readonly #files: readonly SchemaFile[];
  readonly #resources = new Map<string, SourcePlace>();
  readonly #anchors = new Map<string, SourcePlace>();
  readonly #places = new Map<object, SourcePlace>();
  readonly #roots = new Map<SchemaFile, SourcePlace>();

  /** The dialect of each file must be known. */
  constructor(files: readonly SchemaFile[]) {
    this.#files = files;
    for (const file of files) {
      const dialect = dialectOf(file.document);
      if (!dialect) continue;
      const address = nameless + encodeURI(basename(file.name));
      const root = this.#walk({ file, path: [], value: file.document, base: address, dialect });
      this.#resources.set(address, root);
      this.#roots.set(file, root);
    }
  }

  /** Whether the schemas have several addresses, so that a dynamic reference may lead to different places. */
  get isDivided(): boolean {
    return new Set([...this.#places.values()].map(({ base }) => base)).size > 1;
  }

  /** The value at a JSON pointer (RFC 6901) of a file; undefined if there is none. */
  at(file: SchemaFile, pointer: string): SourcePlace | undefined {
    const root = this.#roots.get(file);
    return root && this.#below(root, pathOf(pointer));
  }

  /** The address of a schema; undefined for none, or for an anchor. */
  addressOf({ value, dialect }: Pick<SourcePlace, 'value' | 'dialect'>): string | undefined {
    if (!isSchemaObject(value) || (dialect.ignoresBesideRef && '$ref' in value)) return undefined;
    const id = value['$id'] ?? (dialect.hasPlainId ? value['id'] : undefined);
    return typeof id === 'string' && !id.startsWith('#') ? id.replace(/#.*$/s, '') : undefined;
  }

  /** The place that a reference at this place leads to; undefined if it is in none of the files. */
  target(reference: string, { base }: SourcePlace): SourcePlace | undefined {
    const [address = '', fragment = ''] = (resolvedReference(reference, base) ?? '').split(/#(.*)/s, 2);
    const resource = this.#resources.get(address) ?? this.#fileCalled(address);
    if (!resource) return undefined;
    if (fragment !== '' && !fragment.startsWith('/')) return this.#anchors.get(`${resource.base}#${decodedFragment(fragment)}`);
    return this.#below(resource, pathOf(decodedFragment(fragment)));
  }

  #fileCalled(address: string): SourcePlace | undefined {
    const name = decodedFragment(basename(address));
    const file = this.#files.find((each) => name !== '' && [basename(each.name), basename(each.name, extname(each.name))].includes(name));
    return file && this.#roots.get(file);
  }

  #below(from: SourcePlace, steps: readonly string[]): SourcePlace | undefined {
    let place: SourcePlace = from;
    for (const step of steps) {
      const { value, path } = place;
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
      const inner = (value as Schema)[step];
      const known = typeof inner === 'object' && inner !== null ? this.#places.get(inner) : undefined;
      place = known ?? { ...place, path: [...path, step], value: inner };
    }
    return place;
  }

  /** Adds the value and all that is inside of it. Returns it with its own address as the base. */
  #walk(outer: SourcePlace): SourcePlace {
    const { value, path } = outer;
    if (typeof value !== 'object' || value === null || this.#places.has(value)) return outer;
    const address = this.addressOf(outer);
    const base = (address !== undefined && resolvedReference(address, outer.base)?.replace(/#.*$/s, '')) || outer.base;
    const place = { ...outer, base };
    this.#places.set(value, place);
    if (address !== undefined && !this.#resources.has(base)) this.#resources.set(base, place);
    for (const name of anchorsOf(value as Schema)) this.#anchors.set(`${base}#${name}`, place);
    for (const [name, inner] of Object.entries(value))
      if (!literal.has(name) || path.at(-1) === 'properties') this.#walk({ ...place, path: [...path, name], value: inner });
    return place;
  }
}

/** The place as the user finds it: a pointer, behind the name of a file that is not the first. */
export function placeText({ file, path }: Pick<SourcePlace, 'file' | 'path'>, first: SchemaFile): string {
  const pointer = pointerTo(path);
  return file === first ? pointer : `${file.name}#${pointer}`;
}

function anchorsOf({ $anchor, $dynamicAnchor, $id, id }: Schema): string[] {
  const plain = [$id, id].map((each) => (typeof each === 'string' && each.startsWith('#') ? each.slice(1) : undefined));
  return [$anchor, $dynamicAnchor, ...plain].filter((name) => typeof name === 'string');
}

function resolvedReference(reference: string, base: string): string | undefined {
  // URL would write a `#/a b` otherwise than it was written.
  if (reference.startsWith('#')) return base + reference;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function decodedFragment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
