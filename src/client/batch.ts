/** Several operations on entities for one request, in their order. */
import type { Batch as BatchBody, BatchOperation, Fields, Int64 } from '../../generated/client/types.gen.ts';
import type { Changes, Version } from './entity.ts';

/** The key of an entity that the same batch creates, for a field that the declared type has as a reference. */
export interface Reference {
  $ref: string;
}

/** Fields of type `T`, in which references to creates of the same batch may replace keys. */
export type WithReferences<T> = { [K in keyof T]: string extends T[K] ? T[K] | Reference : T[K] };

export interface BatchOptions {
  /** Whether all operations are one transaction; true by default. Otherwise each is one of its own. */
  atomic?: boolean;
}

/**
 * Collects operations, which `runBatch` of a client sends: `const order = batch.create('order', { number: 'A-17' });
 * batch.create('line', { order, quantity: 2 })`.
 */
export class Batch {
  readonly #operations: BatchOperation[] = [];
  readonly #atomic: boolean;

  constructor({ atomic = true }: BatchOptions = {}) {
    this.#atomic = atomic;
  }

  /** Creates an entity. Other operations may have the returned reference in place of its key. */
  create<T extends object = Fields>(name: string, fields: WithReferences<T>): Reference {
    const id = `o${this.#operations.length + 1}`;
    this.#operations.push({ op: 'create', id, name, fields });
    return { $ref: id };
  }

  /** Changes an entity; only in the given version, unless it is a key alone. */
  update<T extends object = Fields>(name: string, entity: Version | Int64, changes: WithReferences<Changes<T>>): this {
    this.#operations.push({ op: 'update', name, ...placeOf(entity), fields: changes });
    return this;
  }

  /** Deletes an entity likewise. */
  delete(name: string, entity: Version | Int64): this {
    this.#operations.push({ op: 'delete', name, ...placeOf(entity) });
    return this;
  }

  /** Retrieves an entity as the operations before have left it. */
  get(name: string, key: Int64): this {
    this.#operations.push({ op: 'get', name, key });
    return this;
  }

  /** The body of the request. */
  toJSON(): BatchBody {
    return { atomic: this.#atomic, operations: this.#operations };
  }
}

function placeOf(entity: Version | Int64): { key: Int64; ifMatch?: string } {
  return typeof entity === 'string' ? { key: entity } : { key: entity.key, ifMatch: String(entity.version) };
}
