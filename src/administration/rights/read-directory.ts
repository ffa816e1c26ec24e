/**
 * Reads a directory of rights: `roles/<name>.yaml`, `profiles/<name>.yaml`, `cases/<name>.yaml` and `attributes.yaml`. Each file may be JSON too (`.json`), or end in
 * `.yml`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/settings.ts';
import { nearName } from '../../config/near-name.ts';
import { describeFault } from '../../locales/describe.ts';
import type { Fault } from '../../problems/faults.ts';
import type { RightsDocuments } from '../../rights/documents.ts';
import { readDocumentText } from '../../rights/document-text.ts';
import type { DocumentRead } from '../../rights/file-faults.ts';
import { readAttributes, readProfile, readRole } from '../../rights/files.ts';
import { isRoleOrProfileName } from '../../rights/names.ts';
import type { RefusedRights } from './check.ts';

/** The documents of a directory. */
export interface RightsFiles extends RightsDocuments {
  /** The files by what they declare, such as `roles/clerk` and `attributes`, as paths in the directory. */
  files: ReadonlyMap<string, string>;
  /** The values of the files of cases, by their paths in the directory. */
  cases: ReadonlyMap<string, unknown>;
}

const extension = /\.(?:json|ya?ml)$/;
const directories = ['roles', 'profiles', 'cases'];

/**
 * The documents of the directory. Files that are neither YAML nor JSON, and names that begin with a dot, are ignored. Throws {@link ConfigError} with a line for each
 * fault, which has the file and the pointer, and begins with `label`.
 */
export async function readRightsDirectory(directory: string, label: string): Promise<RightsFiles> {
  const reader = new DirectoryReader(directory);
  await reader.read();
  if (reader.problems.length > 0) throw new ConfigError(reader.problems.map((problem) => `${label}: ${problem}`));
  return reader;
}

/** The fault for people, with its file and its pointer. */
export function fileFaultText(file: string, fault: Fault): string {
  const { detail, expected } = describeFault('en', fault);
  const place = fault.pointer ? `${file}: ${fault.pointer}` : file;
  return `${place}: ${detail}${expected === undefined ? '' : ` Expected: ${expected}.`}`;
}

/** A line for each fault of a refusal. A document without a file is called by its path. */
export function problemsOf({ faults }: RefusedRights, { files }: RightsFiles, label: string): string[] {
  return faults.map(
    ({ path, fault }) => `${label}: ${fileFaultText(files.get(path.startsWith('attributes/') ? 'attributes' : path) ?? path, fault)}`,
  );
}

class DirectoryReader implements RightsFiles {
  readonly problems: string[] = [];
  readonly files = new Map<string, string>();
  readonly cases = new Map<string, unknown>();
  readonly #directory: string;
  attributes: RightsDocuments['attributes'] = { user: new Map(), profile: new Map() };
  roles: RightsDocuments['roles'] = new Map();
  profiles: RightsDocuments['profiles'] = new Map();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(): Promise<void> {
    await this.#top();
    this.roles = await this.#each('roles', readRole);
    this.profiles = await this.#each('profiles', readProfile);
    for (const { file, value } of await this.#values('cases')) this.cases.set(file, value);
  }

  /** A misspelt name in the directory would take rights away silently. */
  async #top(): Promise<void> {
    for (const entry of await this.#list('.')) {
      const isFolder = entry.isDirectory();
      const name = isFolder ? entry.name : entry.name.replace(extension, '');
      if (isFolder ? directories.includes(name) : name === 'attributes' || !extension.test(entry.name)) continue;
      const known = isFolder ? directories : ['attributes.yaml'];
      const instead = nearName(entry.name, known) ?? known.join(', ');
      this.problems.push(`${entry.name}: a directory of rights has no such ${isFolder ? 'directory' : 'file'}. Expected: ${instead}.`);
    }
    // A directory that cannot be read is one fault.
    if (this.problems.length > 0) return;
    const [only] = await this.#values('.', (name) => name === 'attributes');
    const read = only && readAttributes(only.value);
    if (only && read) this.attributes = this.#accept('attributes', only.file, read) ?? this.attributes;
  }

  /** The documents of a folder by the names of their files. */
  async #each<T>(folder: string, read: (value: unknown) => DocumentRead<T>): Promise<ReadonlyMap<string, T>> {
    const documents = new Map<string, T>();
    for (const { name, file, value } of await this.#values(folder, isRoleOrProfileName)) {
      const document = this.#accept(`${folder}/${name}`, file, read(value));
      if (document !== undefined) documents.set(name, document);
    }
    return documents;
  }

  #accept<T>(id: string, file: string, read: DocumentRead<T>): T | undefined {
    this.files.set(id, file);
    if ('document' in read) return read.document;
    this.problems.push(...read.faults.map((fault) => fileFaultText(file, fault)));
    return undefined;
  }

  /** The values of the files of a folder; `isName` tells which names they may have, and in the directory itself which are meant. */
  async #values(folder: string, isName?: (name: string) => boolean): Promise<{ name: string; file: string; value: unknown }[]> {
    const values: { name: string; file: string; value: unknown }[] = [];
    for (const entry of await this.#list(folder)) {
      const file = join(folder, entry.name);
      const name = entry.name.replace(extension, '');
      if (!extension.test(entry.name) || (folder === '.' && !isName?.(name))) continue;
      const twin = values.find((other) => other.name === name);
      if (isName && !isName(name))
        this.problems.push(`${file}: the part before the dot is no name: it has 1 to 64 ASCII letters, digits, spaces, _ . -`);
      else if (twin) this.problems.push(`${file}: there is a second file for ${name}: ${twin.file}`);
      else {
        const read = await this.#value(file);
        if (read) values.push({ name, file, ...read });
      }
    }
    return values;
  }

  async #value(file: string): Promise<{ value: unknown } | undefined> {
    try {
      const read = readDocumentText(await readFile(join(this.#directory, file)), file);
      if ('value' in read) return read;
      this.problems.push(fileFaultText(file, read));
    } catch (error) {
      this.problems.push(`${file}: ${messageOf(error)}`);
    }
    return undefined;
  }

  async #list(folder: string) {
    try {
      const entries = await readdir(join(this.#directory, folder), { withFileTypes: true });
      return entries.filter(({ name }) => !name.startsWith('.')).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    } catch (error) {
      const isMissing = folder !== '.' && (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isMissing) this.problems.push(messageOf(error));
      return [];
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ').trim();
