/** Entities of one name, with the type of their fields. A change carries the version that it was made on. */
import * as operations from '../../generated/client/sdk.gen.ts';
import type { Entity as StoredEntity, Fields, Int64 } from '../../generated/client/types.gen.ts';
import { ApiError } from './errors.ts';
import type { CallOptions, Client } from './operation.ts';
import { deliver, mapResult, type ErrorStyle, type Outcome, type Result } from './result.ts';

/** An entity whose fields are of type `T`: plain JSON, which may be stored, sent and compared as such. */
export type Entity<T extends object = Fields> = Omit<StoredEntity, 'fields'> & { fields: T };

/** What is needed of an entity to change it if nobody else has: a whole one will do. */
export type Version = Pick<StoredEntity, 'key' | 'version'>;

/** A merge patch (RFC 7396): given members change, null removes those that may be missing, all others stay. Arrays are replaced. */
export type Changes<T> = { [K in keyof T]?: Change<T[K]> | Removal<T, K> };
type Change<V> = V extends readonly unknown[] ? V : V extends object ? Changes<V> : V;
type Removal<T, K extends keyof T> = string extends K ? null : Partial<Pick<T, K>> extends Pick<T, K> ? null : never;

export interface CreateOptions extends CallOptions {
  /** Instead of a random one: for a create that is to happen once however often the program is started. 1 to 255 printable characters. */
  idempotencyKey?: string;
}

export class Entities<T extends object, S extends ErrorStyle> {
  readonly #client: Client;
  readonly #style: S;
  readonly #name: string;

  constructor(client: Client, style: S, name: string) {
    this.#client = client;
    this.#style = style;
    this.#name = name;
  }

  /** Stores the fields under a new key. Repeats are safe: an Idempotency-Key goes along, so that one entity is created at most. */
  async create(fields: T, { idempotencyKey = randomKey(), ...options }: CreateOptions = {}): Promise<Outcome<S, Entity<T>>> {
    const request = { path: { name: this.#name }, body: fields as Fields, headers: { 'Idempotency-Key': idempotencyKey } };
    return this.#entity(await operations.createEntity({ client: this.#client, ...request, ...options }));
  }

  /** The entity as it stands; `not-found` if there is none. */
  async get(key: Int64, options: CallOptions = {}): Promise<Outcome<S, Entity<T>>> {
    return this.#entity(await operations.getEntity({ client: this.#client, path: this.#path(key), ...options }));
  }

  /** The entity as it stands; the very object that was given if it has not changed, which costs no body. */
  async reload(entity: Entity<T>, options: CallOptions = {}): Promise<Outcome<S, Entity<T>>> {
    const headers = { 'If-None-Match': etag(entity) };
    const result = await operations.getEntity({ client: this.#client, path: this.#path(entity.key), headers, ...options });
    return this.#entity(result.ok && result.status === 304 ? { ...result, value: entity as StoredEntity } : result);
  }

  /**
   * Changes the entity if it is still in the version given, else `precondition-failed`. With a mere key it is changed whatever has happened
   * to it, and such a request is never repeated.
   */
  async update(entity: Version | Int64, changes: Changes<T>, options: CallOptions = {}): Promise<Outcome<S, Entity<T>>> {
    return this.#entity(await this.#update(entity, changes, options));
  }

  /**
   * Reads the entity, lets `change` say what to change, and stores that; reads it again and asks again when somebody else was faster, five
   * times at most.
   */
  async change(key: Int64, change: (fields: T) => Changes<T>, options: CallOptions = {}): Promise<Outcome<S, Entity<T>>> {
    for (let round = 1; ; round += 1) {
      const read = await operations.getEntity({ client: this.#client, path: this.#path(key), ...options });
      if (!read.ok) return this.#entity(read);
      const result = await this.#update(read.value, change(read.value.fields as T), options);
      if (result.ok || round === 5 || !(result.error instanceof ApiError && result.error.status === 412)) return this.#entity(result);
    }
  }

  /** Deletes the entity if it is still in the version given; with a mere key, whatever has happened to it. */
  async delete(entity: Version | Int64, options: CallOptions = {}): Promise<Outcome<S, void>> {
    return deliver(this.#style, await operations.deleteEntity({ client: this.#client, ...this.#guarded(entity), ...options }));
  }

  #update(entity: Version | Int64, changes: Changes<T>, options: CallOptions): Promise<Result<StoredEntity>> {
    return operations.updateEntity({ client: this.#client, ...this.#guarded(entity), body: changes, ...options });
  }

  #entity(result: Result<StoredEntity>): Outcome<S, Entity<T>> {
    return deliver(
      this.#style,
      mapResult(result, (entity) => entity as Entity<T>),
    );
  }

  #path(key: Int64): { name: string; key: Int64 } {
    return { name: this.#name, key };
  }

  #guarded(entity: Version | Int64): { path: { name: string; key: Int64 }; headers?: { 'If-Match': string } } {
    if (typeof entity === 'string') return { path: this.#path(entity) };
    return { path: this.#path(entity.key), headers: { 'If-Match': etag(entity) } };
  }
}

/** The entity tag of a version, which the contract defines as its number in quotes. */
function etag({ version }: Version): string {
  return `"${version}"`;
}

/** 128 random bits. Unlike crypto.randomUUID, this works on pages without https too. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
