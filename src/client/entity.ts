/** The types of entities, and of what calls on entities take. */
import type { Entity as StoredEntity, EntityHistory, EntityVersion, Fields, Labels } from '../../generated/client/types.gen.ts';
import type { CallOptions, WriteOptions } from './operation.ts';

/** An entity whose fields are of type `T`, as plain JSON. */
export type Entity<T extends object = Fields> = Omit<StoredEntity, 'fields'> & {
  fields: T;
  /** The names of what its references lead to, by name and key, if `labels` asked for them. */
  labels?: Labels;
};

/** The part of an entity that a conditional change needs: its key and its version. */
export type Version = Pick<StoredEntity, 'key' | 'version'>;

/** A merge patch (RFC 7396): given members change, null removes an optional member, all others stay. Arrays are replaced. */
export type Changes<T> = { [K in keyof T]?: MemberChange<T[K]> | MemberRemoval<T, K> };
type MemberChange<V> = V extends readonly unknown[] ? V : V extends object ? Changes<V> : V;
type MemberRemoval<T, K extends keyof T> = string extends K ? null : Partial<Pick<T, K>> extends Pick<T, K> ? null : never;

/** A page of the versions of an entity. */
export type History<T extends object = Fields> = Omit<EntityHistory, 'items'> & {
  items: (Entity<T> & Omit<EntityVersion, keyof StoredEntity>)[];
};

export interface HistoryOptions extends CallOptions {
  /** The most versions of the page, 1 to 100; 20 without it. */
  limit?: number;
  /** The `next` of the page before. */
  cursor?: string;
  /** Whether names of entities come beside the versions, in `label` and `labels`. */
  labels?: boolean;
}

export interface UpsertOptions extends WriteOptions {
  /** The fields of a rule in `x-unique`, with dots into objects. */
  by: readonly string[];
}

export interface GetOptions extends CallOptions {
  /** By default the present one; not together with `asOf`, `fields` or `include`. */
  version?: number;
  /** The time at which the entity is wanted (RFC 3339), or the position of a state. The last second before it may be missing. */
  asOf?: string;
  /** The fields to send, with dots into objects; by default all. */
  fields?: readonly string[];
  /** Whether names of entities come beside it, in `label` and `labels`. */
  labels?: boolean;
}
