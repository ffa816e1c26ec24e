/** Entities of one name, with the type of their fields. A change sends the version that it is based on. */
import * as operations from '../../generated/client/sdk.gen.ts';
import type {
  CreatedEntities,
  Entity as StoredEntity,
  EntityAggregation,
  EntityDescription,
  Fields,
  Int64,
} from '../../generated/client/types.gen.ts';
import type { Aggregated, AggregateOptions, EntityMeasure } from './aggregate.ts';
import type { Clock } from './clock.ts';
import type { Changes, Entity, GetOptions, History, HistoryOptions, UpsertOptions, Version } from './entity.ts';
import { ApiError, ClientError } from './errors.ts';
import { EntityList, withIncluded, type ListOptions, type WithIncluded } from './list.ts';
import { withIdempotencyKey, type CallOptions, type Client, type WriteOptions } from './operation.ts';
import type { FieldPath, Projected } from './projection.ts';
import { deliverResult, mapResult, type ErrorStyle, type Outcome, type Result } from './result.ts';
import { conflictPauseMs } from './retry.ts';
import {
  exportEntities,
  exportTo,
  importEntities,
  type ExportEnd,
  type ExportFileOptions,
  type ExportOptions,
  type ImportOptions,
  type ImportProgress,
  type ImportSource,
  type RefusedRow,
} from './transfer.ts';

/** The references to follow: up to five, with a dot to the next one. */
interface Including {
  include: readonly string[];
}

/** The fields to send. The fields of the entities then have a type with these alone. */
interface Projecting<F extends string> {
  fields: readonly F[];
}

/** How long `change` goes on after conflicts: it begins no round after `totalMs` milliseconds. */
export interface RetryBudget {
  clock: Clock;
  totalMs: number;
}

export class Entities<T extends object, S extends ErrorStyle> {
  readonly #client: Client;
  readonly #style: S;
  readonly #name: string;
  readonly #retryBudget: RetryBudget;

  constructor(client: Client, style: S, name: string, retryBudget: RetryBudget) {
    this.#client = client;
    this.#style = style;
    this.#name = name;
    this.#retryBudget = retryBudget;
  }

  /** Creates an entity under a new key. Each request has an Idempotency-Key, so a repeat creates no second entity. */
  async create(fields: T, options: WriteOptions = {}): Promise<Outcome<S, Entity<T>>> {
    const request = { path: { name: this.#name }, body: fields as Fields, ...withIdempotencyKey(options) };
    return this.#entity(await operations.createEntity({ client: this.#client, ...request }));
  }

  /** Creates an entity for each of the fields, up to 1,000: all of them or none. */
  async createMany(fields: readonly T[], options: WriteOptions = {}): Promise<Outcome<S, CreatedEntities['items']>> {
    const request = { path: { name: this.#name }, body: [...fields] as Fields[], ...withIdempotencyKey(options) };
    const result = await operations.createEntities({ client: this.#client, ...request });
    return deliverResult(
      this.#style,
      mapResult(result, ({ items }) => items),
    );
  }

  /**
   * The entity in its present version, in the one given, or as it was at a time; `not-found` if there is none. With `include` it comes with the entities that it
   * refers to; `I` has the types of their fields by name.
   */
  async get<I extends object = Record<string, Fields>, const F extends FieldPath<T> = FieldPath<T>>(
    key: Int64,
    options: GetOptions & Including & Projecting<F>,
  ): Promise<Outcome<S, Entity<Projected<T, F>> & WithIncluded<I>>>;
  async get<const F extends FieldPath<T>>(key: Int64, options: GetOptions & Projecting<F>): Promise<Outcome<S, Entity<Projected<T, F>>>>;
  async get<I extends object = Record<string, Fields>>(
    key: Int64,
    options: GetOptions & Including,
  ): Promise<Outcome<S, Entity<T> & WithIncluded<I>>>;
  async get(key: Int64, options?: GetOptions): Promise<Outcome<S, Entity<T>>>;
  async get(key: Int64, { version, asOf, fields, include, labels, ...options }: GetOptions & Partial<Including> = {}): Promise<unknown> {
    const query = {
      ...(version !== undefined && { version: String(version) }),
      ...(asOf !== undefined && { asOf }),
      ...(fields && { fields: fields.join() }),
      ...(include && include.length > 0 && { include: include.join() }),
      ...(labels && { labels: '1' as const }),
    };
    const result = await operations.getEntity({ client: this.#client, path: this.#path(key), query, ...options });
    return this.#entity(include ? mapResult(result, withIncluded) : result);
  }

  /**
   * Gives the entity the fields of an earlier version again, as a new version unless it has them; only in the given version, unless it is a key alone. An entity in the trash
   * comes back; without `version` as it was deleted. `changes` are merged into these fields.
   */
  async restore(
    entity: Version | Int64,
    version?: number,
    { changes, ...options }: WriteOptions & { changes?: Changes<T> } = {},
  ): Promise<Outcome<S, Entity<T>>> {
    const query = version === undefined ? {} : { version: String(version) };
    const request = { ...this.#guarded(entity, options), query, ...(changes && { body: changes }) };
    return this.#entity(await operations.restoreEntity({ client: this.#client, ...request }));
  }

  /** The versions of the entity, newest first: up to 100 (`limit`), from the `next` of an earlier page on (`cursor`). */
  async history(key: Int64, { limit = 20, cursor, labels, ...options }: HistoryOptions = {}): Promise<Outcome<S, History<T>>> {
    const query = { limit: String(limit), ...(cursor !== undefined && { cursor }), ...(labels && { labels: '1' as const }) };
    const result = await operations.listVersions({ client: this.#client, path: this.#path(key), query, ...options });
    return deliverResult(this.#style, result as Result<History<T>>);
  }

  /** The type as the caller may see it, with titles in the caller's language; `not-found` for a name without a declared type. */
  async describe(options: CallOptions = {}): Promise<Outcome<S, EntityDescription>> {
    return deliverResult(this.#style, await operations.describeEntity({ client: this.#client, path: { name: this.#name }, ...options }));
  }

  /** The entity in its present version. If it has not changed, the server sends no body and the given object is returned. */
  async reload(entity: Entity<T>, options: CallOptions = {}): Promise<Outcome<S, Entity<T>>> {
    const headers = { 'If-None-Match': etag(entity) };
    const result = await operations.getEntity({ client: this.#client, path: this.#path(entity.key), headers, ...options });
    return this.#entity(result.ok && result.status === 304 ? { ...result, value: entity as StoredEntity } : result);
  }

  /**
   * The entities that the filter finds, page after page: `for await (const entity of customers.list({ filter: { city: 'London' } }))`. Nothing is
   * sent before the first is asked for. With `include` they come with the entities that they refer to; `I` has the types of their fields by name.
   */
  list<I extends object = Record<string, Fields>, const F extends FieldPath<T> = FieldPath<T>>(
    options: ListOptions<T> & Including & Projecting<F>,
  ): EntityList<Projected<T, F>, S, WithIncluded<I>>;
  list<const F extends FieldPath<T>>(options: ListOptions<T> & Projecting<F>): EntityList<Projected<T, F>, S>;
  list<I extends object = Record<string, Fields>>(options: ListOptions<T> & Including): EntityList<T, S, WithIncluded<I>>;
  list(options?: ListOptions<T>): EntityList<T, S>;
  list(options: ListOptions<T> = {}): unknown {
    return new EntityList<T, S>(this.#client, this.#style, this.#name, options);
  }

  /**
   * All entities that the filter finds, by key, in one request: `for await (const entity of customers.export())`. Iterating throws the errors of either
   * error style, also for an export that ends before it is complete.
   */
  export<const F extends FieldPath<T>>(options: ExportOptions<T> & Projecting<F>): AsyncGenerator<Entity<Projected<T, F>>, void>;
  export(options?: ExportOptions<T>): AsyncGenerator<Entity<T>, void>;
  export(options: ExportOptions<T> = {}): AsyncGenerator<Entity<T>, void> {
    return exportEntities<T>(this.#client, this.#name, options);
  }

  /**
   * Writes the export as a file of NDJSON or CSV into the stream, which it closes. An export that is not complete is an error. Returns what the last line of NDJSON
   * says.
   */
  async exportTo(target: WritableStream<Uint8Array<ArrayBuffer>>, options: ExportFileOptions<T> = {}): Promise<Outcome<S, ExportEnd>> {
    return deliverResult(this.#style, await exportTo<T>(this.#client, this.#name, target, options));
  }

  /**
   * Imports a file, or the fields of many entities, and reports on it meanwhile: each row that is refused, and what has been done so far. The request is never
   * repeated; with `by` it can be sent again. Iterating throws the errors of either error style.
   */
  importFrom(source: ImportSource<T>, options: ImportOptions = {}): AsyncGenerator<RefusedRow | ImportProgress, void> {
    return importEntities<T>(this.#client, this.#name, source, options);
  }

  /**
   * Counts, sums, averages and extremes over the entities that the filter finds, in groups of indexed fields:
   * `orders.aggregate({ groupBy: ['state'], measures: { count: { $count: true }, sum: { $sum: 'total' } } })`.
   */
  async aggregate<M extends Record<string, EntityMeasure<T>>>(options: AggregateOptions<T, M>): Promise<Outcome<S, Aggregated<M>>> {
    const { filter, search, groupBy, measures, having, sort, limit, ...call } = options;
    const body: object = { filter, search, groupBy, measures, having, sort, limit };
    const result = await operations.aggregateEntities({
      client: this.#client,
      path: { name: this.#name },
      body: body as EntityAggregation,
      ...call,
    });
    return deliverResult(this.#style, result as Result<unknown> as Result<Aggregated<M>>);
  }

  /**
   * Changes the entity if it still has the given version; otherwise `precondition-failed`. With a key alone the change is unconditional.
   */
  async update(entity: Version | Int64, changes: Changes<T>, options: WriteOptions = {}): Promise<Outcome<S, Entity<T>>> {
    return this.#entity(await this.#update(entity, changes, options));
  }

  /**
   * Merges the fields into the entity that has the same values in the fields `by`, a unique rule of the type. Without such an entity it
   * creates one. A merge that changes nothing makes no version.
   */
  async upsert(fields: Changes<T>, { by, ...options }: UpsertOptions): Promise<Outcome<S, Entity<T>>> {
    const request = { path: { name: this.#name }, query: { by: by.join() }, body: fields, ...withIdempotencyKey(options) };
    return this.#entity(await operations.upsertEntity({ client: this.#client, ...request }));
  }

  /**
   * Reads the entity, calls `change` for the patch, and stores it. After a conflict with another change it pauses for a random time of up
   * to a second. Then it reads and calls again, until the `totalMs` of the client's `retry` have passed.
   */
  async change(key: Int64, change: (fields: T) => Changes<T>, options: CallOptions = {}): Promise<Outcome<S, Entity<T>>> {
    const { clock, totalMs } = this.#retryBudget;
    const start = clock.now();
    for (let round = 1; ; round += 1) {
      const read = await operations.getEntity({ client: this.#client, path: this.#path(key), ...options });
      if (!read.ok) return this.#entity(read);
      const result = await this.#update(read.value, change(read.value.fields as T), options);
      if (result.ok || !(result.error instanceof ApiError && result.error.status === 412)) return this.#entity(result);
      const pause = conflictPauseMs(round, Math.random());
      if (clock.now() + pause - start > totalMs) return this.#entity(result);
      try {
        await clock.sleep(pause, options.signal);
      } catch (cause) {
        return this.#entity({ ok: false, error: new ClientError('aborted', { cause }) });
      }
    }
  }

  /** Deletes the entity if it still has the given version; with a key alone unconditionally. */
  async delete(entity: Version | Int64, options: WriteOptions = {}): Promise<Outcome<S, void>> {
    return deliverResult(this.#style, await operations.deleteEntity({ client: this.#client, ...this.#guarded(entity, options) }));
  }

  /** The deleted entities of a type with a trash, page after page, with `deletedAt`, `deletedBy` and `expiresAt`. Needs `read` and `update`. */
  trash(options: Omit<ListOptions<T>, 'deleted' | 'search'> = {}): EntityList<T, S> {
    return this.list({ ...options, deleted: 'only' });
  }

  /** Removes what is stored of the entity for good: in the trash, in all its versions, and if it is live too. Needs the action `purge`. */
  async purge(entity: Version | Int64, options: WriteOptions = {}): Promise<Outcome<S, void>> {
    const request = { ...this.#guarded(entity, options), query: { purge: '1' as const } };
    return deliverResult(this.#style, await operations.deleteEntity({ client: this.#client, ...request }));
  }

  #update(entity: Version | Int64, changes: Changes<T>, options: WriteOptions): Promise<Result<StoredEntity>> {
    return operations.updateEntity({ client: this.#client, ...this.#guarded(entity, options), body: changes });
  }

  #entity(result: Result<StoredEntity>): Outcome<S, Entity<T>> {
    return deliverResult(
      this.#style,
      mapResult(result, (entity) => entity as Entity<T>),
    );
  }

  #path(key: Int64): { name: string; key: Int64 } {
    return { name: this.#name, key };
  }

  #guarded(entity: Version | Int64, options: WriteOptions) {
    const { headers, ...request } = withIdempotencyKey(options);
    if (typeof entity === 'string') return { ...request, headers, path: this.#path(entity) };
    return { ...request, headers: { ...headers, 'If-Match': etag(entity) }, path: this.#path(entity.key) };
  }
}

/** The entity tag of a version: its number in quotes, as the contract defines it. */
function etag({ version }: Version): string {
  return `"${version}"`;
}
