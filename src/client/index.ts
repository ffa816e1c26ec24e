/** The public API of the client. The generated operations are in `entity-service-client/operations`. */
export type { Aggregated, AggregateOptions, EntityGroup, EntityMeasure, TimeGrouping } from './aggregate.ts';
export { EntityServiceClient } from './client.ts';
export type { ClientOptions, SignIn } from './client-options.ts';
export type { Clock } from './clock.ts';
export { CookieJar, type CookieJarOptions } from './cookies.ts';
export { Batch, type BatchOptions, type Reference, type WithReferences } from './batch.ts';
export type { Entities } from './entities.ts';
export type { Changes, Entity, GetOptions, History, HistoryOptions, UpsertOptions, Version } from './entity.ts';
export { ApiError, ClientError, EntityServiceError, type ApiErrorCode, type ClientErrorReason } from './errors.ts';
export type { Credential, Fetch } from './http.ts';
export type {
  EntityFilter,
  EntityList,
  EntityPage,
  EntitySort,
  FieldFilter,
  FilterOperand,
  FilterVariable,
  ListOptions,
  WithIncluded,
} from './list.ts';
export type { CallOptions, Client, WriteOptions, WriteOptions as CreateOptions } from './operation.ts';
export type { FieldPath, Projected } from './projection.ts';
export { resultOf, valueOf, type ErrorStyle, type Failure, type Outcome, type Result, type Success } from './result.ts';
export type { RetryPolicy } from './retry.ts';
export type { ExportEnd, ExportFileOptions, ExportOptions, ImportOptions, ImportProgress, ImportSource, RefusedRow } from './transfer.ts';
export { signInUrl, type SignInUrlOptions } from './sign-in-url.ts';
export type * from '../../generated/client/types.gen.ts';
export type { ProblemCode } from '../../generated/client/problem-codes.ts';
