/**
 * The declared types as one process knows them. Notifications of the database tell when types have changed. What the process knows may be
 * out of date for a moment all the same, so every statement that writes entities compares the revision (`entities/writing/type-guard.ts`).
 */
import { LRUCache } from 'lru-cache';
import type { Kysely } from 'kysely';
import type { Config } from '../config/settings.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import { DocumentChecks } from './proof.ts';
import { findCurrentRevision, findRevision, listRevisions, listSensitiveFields } from './store.ts';
import { compileStored, type StoredTypeFault } from './stored-type.ts';
import type { EntityType, EntityTypes } from './types.ts';

/**
 * Characters of the documents whose validators a process stores. Each of its two validators takes about ten times the memory of a document.
 */
const maximumCharacters = 4_194_304;
/** What the smallest validator takes, in characters of a document. */
const leastCharacters = 4_096;

const none: ReadonlySet<string> = new Set();

export class TypeRegistry implements EntityTypes {
  readonly #db: Kysely<Database>;
  readonly #checks: DocumentChecks;
  readonly #onlyDeclared: boolean;
  readonly #onUnchecked: (name: string, fault: StoredTypeFault) => void;
  /** By revision: what a revision is never changes. Requests that need the same one at the same time share its load. */
  readonly #types = new LRUCache<string, EntityType>({
    maxSize: maximumCharacters,
    sizeCalculation: ({ document }) => leastCharacters + JSON.stringify(document).length,
    fetchMethod: (revision) => this.#load(revision, this.#db),
    ignoreFetchAbort: true,
  });
  #revisions: Promise<ReadonlyMap<string, string>> | undefined;
  /** By the revisions of all names, which are one object until a type changes. */
  readonly #sensitive = new WeakMap<ReadonlyMap<string, string>, Promise<ReadonlyMap<string, ReadonlySet<string>>>>();
  #sensitiveByRevision: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #notified = false;

  /** `onUnchecked` receives the name of a type whose fields cannot be checked, and why, when this process has read it. */
  constructor(
    db: Kysely<Database>,
    { entityTypes }: Pick<Config, 'entityTypes'>,
    onUnchecked: (name: string, fault: StoredTypeFault) => void = () => undefined,
    checks = new DocumentChecks(),
  ) {
    this.#checks = checks;
    this.#db = db;
    this.#onUnchecked = onUnchecked;
    this.#onlyDeclared = entityTypes === 'declared';
  }

  async find(name: string): Promise<EntityType | undefined> {
    const revisions = await this.#currentRevisions();
    return await this.at(name, revisions.get(name) ?? '0');
  }

  async at(name: string, revision: string): Promise<EntityType | undefined> {
    if (revision === '0') {
      if (this.#onlyDeclared) throw new Problem('not-found');
      return undefined;
    }
    return this.#allowed(this.#types.get(revision) ?? (await this.#types.forceFetch(revision)));
  }

  within(db: Kysely<Database>): EntityTypes {
    const at = async (name: string, revision: string) => {
      if (revision === '0') return await this.at(name, revision);
      const known = this.#types.get(revision);
      if (known) return this.#allowed(known);
      const type = await this.#load(revision, db);
      this.#types.set(revision, type);
      return this.#allowed(type);
    };
    return {
      at,
      find: async (name) => await at(name, await findCurrentRevision(db, name)),
      within: (inner) => this.within(inner),
      forget: () => this.forget(),
    };
  }

  /** The fields that the types call sensitive, by name; a name without such fields is left out. */
  async sensitiveFields(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const revisions = await this.#currentRevisions();
    const known = this.#sensitive.get(revisions) ?? this.#readSensitive(revisions);
    this.#sensitive.set(revisions, known);
    return await known.catch((error: unknown) => {
      this.#sensitive.delete(revisions);
      throw error;
    });
  }

  /** Reads those of the revisions that it has not read yet. */
  async #readSensitive(revisions: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const read = this.#sensitiveByRevision;
    const unread = [...revisions.values()].filter((revision) => !read.has(revision));
    const found = unread.length === 0 ? new Map<string, string[]>() : await listSensitiveFields(this.#db, unread);
    const fields = new Map([...revisions.values()].map((revision) => [revision, read.get(revision) ?? new Set(found.get(revision))]));
    this.#sensitiveByRevision = fields;
    return new Map(
      [...revisions].flatMap(([name, revision]) => (fields.get(revision)?.size ? [[name, fields.get(revision) ?? none]] : [])),
    );
  }

  forget(): void {
    this.#revisions = undefined;
  }

  /** `on` says whether notifications arrive. Without them every {@link find} reads the revisions. */
  enable(on: boolean): void {
    this.#notified = on;
    this.forget();
  }

  async #currentRevisions(): Promise<ReadonlyMap<string, string>> {
    if (!this.#notified) return await listRevisions(this.#db);
    const revisions = (this.#revisions ??= listRevisions(this.#db));
    try {
      return await revisions;
    } catch (error) {
      if (this.#revisions === revisions) this.forget();
      throw error;
    }
  }

  #allowed(type: EntityType): EntityType {
    if (this.#onlyDeclared && type.isPlaceholder) throw new Problem('not-found');
    return type;
  }

  async #load(revision: string, db: Kysely<Database>): Promise<EntityType> {
    const found = await findRevision(db, revision);
    if (!found) throw new Error(`there is no entity type with the revision ${revision}`);
    const { name, isPlaceholder, mayBeUnfit } = found;
    const { type, fault } = await compileStored({ revision, ...found }, this.#checks);
    if (fault) this.#onUnchecked(name, fault);
    return { ...type, isPlaceholder, mayBeUnfit };
  }
}
