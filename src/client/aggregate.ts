/** Numbers over the entities of a name, in groups. */
import type { EntityAggregation } from '../../generated/client/types.gen.ts';
import type { EntityFilter, FieldName } from './list.ts';
import type { CallOptions } from './operation.ts';

/** A period of a time or a day; `zone` is a time zone, UTC by default. */
export interface TimeGrouping<T extends object> {
  path: FieldName<T>;
  by: 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour';
  zone?: string;
}

/** The number of entities, or the sum, the average, the least or the greatest value of an indexed field. */
export type EntityMeasure<T extends object> =
  { $count: true } | { $sum: FieldName<T> } | { $avg: FieldName<T> } | { $min: FieldName<T> } | { $max: FieldName<T> };

export interface AggregateOptions<T extends object, M extends Record<string, EntityMeasure<T>>> extends CallOptions {
  filter?: EntityFilter<T>;
  /** Words to search for, as in a list. */
  search?: string;
  /** Up to three indexed fields whose values make groups, or periods of times and days. */
  groupBy?: readonly (FieldName<T> | TimeGrouping<T>)[];
  /** Up to eight, by names that the groups have as members. */
  measures: M;
  /** Tests of measures by their names; sums and averages are texts. */
  having?: EntityAggregation['having'];
  /** Measures and fields of `groupBy`, `-` in front for descending. */
  sort?: readonly string[];
  /** The most groups, up to 1000. */
  limit?: number;
}

/** A group: the values of the fields that it was made by, and its measures. */
export type EntityGroup<M> = { key: Record<string, string | number | boolean | null> } & {
  [N in keyof M]: M[N] extends { $count: true }
    ? number
    : M[N] extends { $sum: string } | { $avg: string }
      ? string | null
      : string | number | null;
};

export interface Aggregated<M> {
  groups: EntityGroup<M>[];
  /** Whether these are all groups. */
  complete: boolean;
  /** The caller may not read all entities of the name, so there may be others. */
  partial?: true;
}
