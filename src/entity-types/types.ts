/**
 * Declared entity types: a JSON Schema (2020-12) for the fields of the entities of a name. A type says what fields are accepted; it
 * changes none of them. Grants, not types, decide which callers may do something with entities of the name.
 */
import type { Kysely } from 'kysely';
import type { Companion } from '../entities/companion/layout.ts';
import type { Database } from '../database/tables.ts';
import type { Field, FieldTypes } from '../filter/fields.ts';
import type { AcceptsPatch } from './patches.ts';
import type { FindMisspelt } from './spellings.ts';
import type { Schema } from './subschemas.ts';

/**
 * Throws 422 `validation-failed`, with the places of what is wrong, unless the fields fit the type. `sent` gives what the caller sent,
 * if that is not the same.
 */
export type CheckFields = (fields: unknown, sent?: () => unknown) => void;

export interface EntityType {
  /** A 64-bit number as text. No two types have the same. */
  revision: string;
  /** The JSON Schema with its service keywords. */
  document: Schema;
  check: CheckFields;
  acceptsPatch: AcceptsPatch;
  findMisspelt: FindMisspelt;
  /** The types of the fields, for filters and sorts. */
  fields: FieldTypes;
  /** The fields that `properties` name, in their order. They are read at the first call. */
  declaredFields: () => readonly Field[];
  /** Whether the name has no type yet, because its first one is being built. Its entities may be any object. */
  isPlaceholder: boolean;
  /** Whether stored entities may not fit. Their next update must make them fit. */
  mayBeUnfit: boolean;
  /** Whether an update or a delete needs If-Match. */
  requiresIfMatch: boolean;
  /** How long deleted entities stay in the trash, as an interval; null if they do not. */
  trashKeep: string | null;
  /** The table that statements write beside `entity`; null for a type without rules that need one. */
  companion: Companion | null;
}

export interface EntityTypes {
  /**
   * The type of entities called `name`, as this process knows it; undefined when they may be any object. Throws 404 `not-found` when only
   * declared names exist and this is none (rule 64).
   */
  find(name: string): Promise<EntityType | undefined>;
  /** The type with this revision, which may be older than the present one; undefined for 0. Throws as {@link find}. */
  at(name: string, revision: string): Promise<EntityType | undefined>;
  /**
   * The same types, but read with `db` if this process does not know them yet: for work in a transaction, which has a connection already.
   */
  within(db: Kysely<Database>): EntityTypes;
  /** Types have changed: the next {@link find} reads their revisions from the database. */
  forget(): void;
}
