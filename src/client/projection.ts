/** The types of entities that are sent with some of their fields. */

/** The name of a field of `T`, with dots into objects: three names deep, and any text behind them. */
export type FieldPath<T, Depth extends unknown[] = []> = { [K in keyof T & string]-?: K | Below<K, T[K], Depth> }[keyof T & string];
type Below<K extends string, V, Depth extends unknown[]> = unknown extends V
  ? `${K}.${string}`
  : [NonNullable<V>] extends [readonly unknown[]]
    ? never
    : [NonNullable<V>] extends [object]
      ? `${K}.${Depth['length'] extends 2 ? string : FieldPath<NonNullable<V>, [...Depth, unknown]>}`
      : never;

/** The fields of type `T` when only those named `F` are sent; `T` itself if it has any names. */
export type Projected<T extends object, F extends string> = string extends keyof T
  ? T
  : [FieldPath<T>] extends [F]
    ? T
    : { [K in keyof T as K extends First<F> ? K : never]: K extends F ? T[K] : Within<T[K], Rest<F, K>> };
type First<F extends string> = F extends `${infer Name}.${string}` ? Name : F;
type Rest<F extends string, K> = F extends `${infer Name}.${infer Others}` ? (Name extends K ? Others : never) : never;
type Within<V, F extends string> = V extends readonly unknown[] ? V : V extends object ? Projected<V, F> : V;
