/** Lists of entities: an iterator over all entities of a query, which reads page after page. */
import * as operations from '../../generated/client/sdk.gen.ts';
import type {
  EntityPage as StoredPage,
  EntityQuery,
  FieldTest,
  Fields,
  FoldTest,
  Int64,
  Withheld,
} from '../../generated/client/types.gen.ts';
import type { Entity } from './entity.ts';
import { exactJson } from './exact-json.ts';
import type { CallOptions, Client } from './operation.ts';
import { deliverResult, valueOf, type ErrorStyle, type Outcome, type Result } from './result.ts';

type Scalar = string | number | boolean | null;
interface Presence {
  $exists?: boolean;
  $empty?: boolean;
}

/** A variable of the caller: `user.name`, `profile.name`, `now` or `today`. */
export interface FilterVariable {
  $var: string;
}
/** The operand of a field in place of a value: a variable, another field of the entity, or the present time minus a duration such as `P30D`. */
export type FilterOperand = FilterVariable | { $field: string } | { $ago: string };

/** Combinations of tests of one field. */
interface Combinations<T> {
  $and?: readonly T[];
  $or?: readonly T[];
  $not?: T;
}
interface Tests<V> extends Presence, Combinations<FieldFilter<V>> {
  $eq?: V | FilterOperand | null;
  $ne?: V | FilterOperand | null;
  $lt?: V | FilterOperand;
  $lte?: V | FilterOperand;
  $gt?: V | FilterOperand;
  $gte?: V | FilterOperand;
  $in?: readonly (V | FilterOperand | null)[] | FilterVariable;
  $nin?: readonly (V | FilterOperand | null)[] | FilterVariable;
  $prefix?: string | FilterVariable;
  $contains?: string | FilterVariable;
  /** The text without regard to case and accents: a text that it equals, or operators. The type needs an index for it. */
  $fold?: [V] extends [string] ? FoldTest : never;
  /** A filter of the entity whose key a reference has. */
  $match?: [V] extends [string] ? EntityFilter : never;
}

/** The test of a field of type `V`: a value that it must equal, operators, or the tests of its members. */
export type FieldFilter<V> = unknown extends V
  ? FieldTest
  : [NonNullable<V>] extends [readonly (infer Item)[]]
    ? null | (Presence & Combinations<FieldFilter<V>> & { $contains?: (Item & Scalar) | FilterVariable })
    : [NonNullable<V>] extends [object]
      ? null | Presence | ({ [K in keyof NonNullable<V>]?: FieldFilter<NonNullable<V>[K]> } & Combinations<FieldFilter<V>>)
      : NonNullable<V> | FilterOperand | null | Tests<NonNullable<V>>;

/** A filter of entities with fields of type `T`: all members have to hold. */
export type EntityFilter<T extends object = Fields> = { [K in keyof T]?: FieldFilter<T[K]> } & {
  $and?: readonly EntityFilter<T>[];
  $or?: readonly EntityFilter<T>[];
  $not?: EntityFilter<T>;
  /** A filter of the entities that refer to this one, by their name and the field with the reference: `{ 'member.project': { user: 'ada' } }`. */
  $some?: Record<string, EntityFilter>;
  /** The same, which no such entity fulfils. */
  $none?: Record<string, EntityFilter>;
  $key?: FieldFilter<string>;
  $version?: FieldFilter<number>;
  $createdAt?: FieldFilter<string>;
  $createdBy?: FieldFilter<string>;
  $updatedAt?: FieldFilter<string>;
  $updatedBy?: FieldFilter<string>;
  /** The name of the entity, if its type has `x-label`. */
  $label?: FieldFilter<string>;
};

type EnvelopeField = '$key' | '$version' | '$createdAt' | '$createdBy' | '$updatedAt' | '$updatedBy' | '$label';
/** The name of a field of `T`, three names deep: more would be too many for a type that contains itself. */
export type FieldName<T, Depth extends unknown[] = []> = Depth['length'] extends 3
  ? never
  : { [K in keyof T & string]-?: NameIn<K, T[K], Depth> }[keyof T & string];
type NameIn<K extends string, V, Depth extends unknown[]> = unknown extends V
  ? K
  : [NonNullable<V>] extends [readonly unknown[]]
    ? never
    : [NonNullable<V>] extends [object]
      ? `${K}.${FieldName<NonNullable<V>, [...Depth, unknown]>}`
      : K;

/** A name by which entities with fields of type `T` are sorted: a field, with dots into objects, or a member of the envelope; `-` for descending. */
export type EntitySort<T extends object = Fields> = string extends keyof T ? string : `${'' | '-'}${FieldName<T> | EnvelopeField}`;

export interface ListOptions<T extends object = Fields> extends CallOptions {
  filter?: EntityFilter<T>;
  /** Words to search for in the texts that the type searches, up to 200 characters: all words, `"a phrase"`, `or`, and `-` for none. */
  search?: string;
  /** Up to four fields, `-` in front for descending, with dots into objects; by default `$key`. */
  sort?: readonly EntitySort<T>[];
  /** The most entities of a page: 1 to 1000, 50 by default. */
  limit?: number;
  /** The fields to send, with dots into objects; by default all. */
  fields?: readonly string[];
  /** The references to follow: up to five, with a dot to the next one. What they lead to is in `included`. */
  include?: readonly string[];
  /** Whether names of entities come beside them: `label` of each, and those of what references lead to in `labels`. */
  labels?: boolean;
  /** Whether each page has the number of entities that the filter finds; `none` by default. */
  count?: NonNullable<EntityQuery['count']>;
  /** `only` lists what is in the trash, see {@link Entities.trash}. */
  deleted?: NonNullable<EntityQuery['deleted']>;
}

/** A page of entities with fields of type `T`. It may be empty and still have a `next`. */
export type EntityPage<T extends object = Fields> = Omit<StoredPage, 'items' | keyof WithIncluded> & { items: Entity<T>[] };

/** What the references of an answer lead to. `I` has the type of the fields by the name of the entities. */
export interface WithIncluded<I extends object = Record<string, Fields>> {
  /** By name and key, each once: `included.customer?.[order.fields.customer]`. */
  included: { [N in keyof I]?: Record<Int64, I[N] extends object ? Entity<I[N]> : never> };
  /** What does not exist or the caller may not read. These are not told apart. */
  withheld: Withheld;
}

/** The longest filter that goes into a URL, in characters, the longest query, and the most values of a list in it. */
const urlLimits = { filter: 2_048, query: 6_000, values: 200 };

/**
 * The entities of a query: `for await (const entity of list)`. Iterating throws the errors of either error style. With `include` each page is
 * {@link WithIncluded}, and so is each entity, with what its page includes.
 */
export class EntityList<T extends object, S extends ErrorStyle, W = unknown> implements AsyncIterable<Entity<T> & W> {
  readonly #client: Client;
  readonly #style: S;
  readonly #name: string;
  readonly #query: Omit<EntityQuery, 'filter'> & { filter?: object };
  readonly #options: CallOptions;
  /** The cursor and the ETag of each page that this list has read. */
  readonly #origins = new WeakMap<object, { cursor: string | undefined; etag: string | null }>();

  constructor(client: Client, style: S, name: string, listed: ListOptions<T>) {
    const { filter, search, sort, limit, fields, include, labels, count, deleted, ...options } = listed;
    this.#client = client;
    this.#style = style;
    this.#name = name;
    this.#query = {
      ...(filter && { filter }),
      ...(search !== undefined && { search }),
      ...(sort && { sort: [...sort] }),
      ...(limit !== undefined && { limit }),
      ...(fields && { fields: [...fields] }),
      ...(include && { include: [...include] }),
      ...(labels && { labels }),
      ...(count && { count }),
      ...(deleted && { deleted }),
    };
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entity<T> & W, void> {
    for await (const page of this.pages()) {
      const { items, included, withheld, labels } = page as EntityPage<T> & Partial<WithIncluded>;
      const beside = { ...(included && { included, withheld }), ...(labels && { labels }) };
      for (const item of items) yield (included || labels ? { ...item, ...beside } : item) as Entity<T> & W;
    }
  }

  /** The pages, to the last one. */
  async *pages(): AsyncGenerator<EntityPage<T> & W, void> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: EntityPage<T> & W = valueOf(await this.#page(cursor));
      yield page;
      cursor = page.next;
    }
  }

  /** The first page, or the one after or before: its cursor is the `next` or `prev` of a page of this query. */
  async page(cursor?: string): Promise<Outcome<S, EntityPage<T> & W>> {
    return deliverResult(this.#style, await this.#page(cursor));
  }

  /**
   * The page of this list as it stands. If it has not changed, the server sends no body and the given object is returned. A query that does not fit into a
   * URL is answered with a body each time. Throws TypeError for a page of another list.
   */
  async reload(page: EntityPage<T> & W): Promise<Outcome<S, EntityPage<T> & W>> {
    const origin = this.#origins.get(page);
    if (!origin) throw new TypeError('reload takes a page that this list has read');
    const { cursor, etag } = origin;
    return deliverResult(this.#style, await this.#page(cursor, etag === null ? undefined : { etag, page }));
  }

  async #page(cursor: string | undefined, known?: { etag: string; page: EntityPage<T> & W }): Promise<Result<EntityPage<T> & W>> {
    const query = { ...this.#query, ...(cursor !== undefined && { cursor }) };
    const result = await this.#send(query, known?.etag);
    if (!result.ok) return result;
    if (result.status === 304 && known) return { ...result, value: known.page };
    const page = (query.include ? withIncluded(result.value) : result.value) as EntityPage<T> & W;
    this.#origins.set(page, { cursor, etag: result.headers.get('etag') });
    return { ...result, value: page };
  }

  #send(body: Omit<EntityQuery, 'filter'> & { filter?: object }, etag: string | undefined): Promise<Result<StoredPage>> {
    const request = { client: this.#client, path: { name: this.#name }, ...this.#options };
    const query = urlQuery(body);
    if (query) return operations.listEntities({ ...request, query, ...(etag !== undefined && { headers: { 'If-None-Match': etag } }) });
    return operations.queryEntities({ ...request, body: body as EntityQuery });
  }
}

/** Without names to include the service sends neither member. */
export function withIncluded<A extends Partial<WithIncluded>>(answer: A): A & WithIncluded {
  return { ...answer, included: answer.included ?? {}, withheld: answer.withheld ?? [] };
}

/** The parameters of `listEntities`; undefined for a query that does not fit into a URL. */
function urlQuery({ filter, sort, limit, fields, include, labels, ...others }: Omit<EntityQuery, 'filter'> & { filter?: object }) {
  const text = filter && exactJson(filter);
  // A comma separates names in a URL, and a list without names has no text.
  const isAmbiguous = fields?.length === 0 || [...(sort ?? []), ...(fields ?? []), ...(include ?? [])].some((name) => name.includes(','));
  if (isAmbiguous || (text !== undefined && (text.length > urlLimits.filter || hasLongList(filter)))) return undefined;
  const query = {
    ...(text !== undefined && { filter: text }),
    ...(sort && sort.length > 0 && { sort: sort.join() }),
    ...(limit !== undefined && { limit: String(limit) }),
    ...(fields && { fields: fields.join() }),
    ...(include && include.length > 0 && { include: include.join() }),
    ...(labels && { labels: '1' as const }),
    ...others,
  };
  return new URLSearchParams(query).toString().length > urlLimits.query ? undefined : query;
}

function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) && value.length > urlLimits.values) || Object.values(value).some(hasLongList);
}
