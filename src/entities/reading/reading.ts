/** Lists, aggregations and histories. They wait for their turn, and a standby may answer them (decision 170). */
import type { Caller } from '../../authn/caller.ts';
import type { JsonText, Schemas } from '../../contract/operation.ts';
import { lacksRelation } from '../../database/failure.ts';
import { latestOf, positionOf } from '../../database/standby/log-position.ts';
import type { FreshResult, Readers, Reading } from '../../database/standby/readers.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { readOthers } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';
import { aggregateEntities } from '../querying/aggregate.ts';
import type { AggregateRequest } from '../querying/aggregate-request.ts';
import { Cursors, positionIn } from '../querying/cursors.ts';
import type { Admission } from '../../admission/admission.ts';
import { listVersions, type VersionQuery } from '../history/history.ts';
import type { ReadingContext } from './context.ts';
import { historyRetention } from '../retention.ts';
import { listEntities, type ListedPage } from '../querying/list.ts';
import { includesReadOthers } from '../querying/include.ts';
import type { ListRequest } from '../querying/list-request.ts';

/** What a request has besides its parameters: its sender, and the position in the log that its answer must have. */
export interface ReadingCaller {
  caller: Caller;
  headers: { 'consistency-token'?: string };
}

export class EntityReading {
  readonly #readers: Readers;
  readonly #types: EntityTypes;
  readonly #admission: Admission;
  readonly #cursors: Cursors;

  constructor({ serviceSecrets, readers, entityTypes, admission }: ReadingContext) {
    this.#readers = readers;
    this.#types = entityTypes;
    this.#admission = admission;
    this.#cursors = new Cursors(serviceSecrets);
  }

  /** A page of the list that `requestFor` reads for the type. Throws as {@link listEntities} does. */
  page(
    permit: Permit<'read' | 'update'>,
    from: ReadingCaller,
    requestFor: (type: EntityType | undefined) => Promise<ListRequest>,
  ): Promise<FreshResult<ListedPage>> {
    return readByType(this.#types, permit.entity, async (type) => {
      const request = await requestFor(type);
      const spansTypes = request.targets.size > 0 || request.labels !== undefined || includesReadOthers(request.includes);
      const read = await this.#begin(permit, from, type, request.cursor, spansTypes);
      return await this.#admission.run('list', { flow: permit.userName, caller: from.caller }, () =>
        read((reads) => listEntities(reads, this.#cursors, permit, request, type?.companion)),
      );
    });
  }

  /** The groups of the aggregation that `requestFor` reads for the type. Throws as {@link aggregateEntities} does. */
  groups(
    permit: Permit<'read'>,
    from: ReadingCaller,
    requestFor: (type: EntityType | undefined) => Promise<AggregateRequest>,
  ): Promise<FreshResult<JsonText<Schemas['EntityAggregated']>>> {
    return readByType(this.#types, permit.entity, async (type) => {
      const request = await requestFor(type);
      const read = await this.#begin(permit, from, type, undefined, request.targets.size > 0);
      return await this.#admission.run('aggregation', { flow: permit.userName, caller: from.caller }, () =>
        read((reads) => aggregateEntities(reads, permit, request, type?.companion)),
      );
    });
  }

  /** A page of versions. Throws as {@link listVersions} does. */
  async versions(
    permit: Permit<'read'>,
    from: ReadingCaller,
    key: string,
    query: Omit<VersionQuery, 'keep'>,
  ): Promise<FreshResult<JsonText<Schemas['EntityHistory']>>> {
    const type = await this.#types.find(permit.entity);
    const read = await this.#begin(permit, from, type, query.cursor, query.labels !== undefined);
    const keep = historyRetention(type?.document);
    return await this.#admission.run('heavy-read', { flow: permit.userName, caller: from.caller }, () =>
      read((reads) => listVersions(reads, this.#cursors, permit, key, { ...query, keep })),
    );
  }

  #begin(
    permit: Permit<'read' | 'update'>,
    { headers: { 'consistency-token': token } }: ReadingCaller,
    type: EntityType | undefined,
    cursor?: string,
    spansTypes = false,
  ): Promise<Reading> {
    const after = latestOf([token === undefined ? undefined : positionOf(token), positionIn(cursor)]);
    return this.#readers.begin({
      after,
      name: permit.entity,
      typeRevision: type?.revision ?? '0',
      spansTypes: spansTypes || readOthers(permit),
    });
  }
}

/**
 * Runs `read` with the type of entities called `name`. If a statement names what the companion table no longer has, the type has changed,
 * and `read` runs once more with the new one.
 */
export async function readByType<T>(types: EntityTypes, name: string, read: (type: EntityType | undefined) => Promise<T>): Promise<T> {
  try {
    return await read(await types.find(name));
  } catch (error) {
    if (!lacksRelation(error)) throw error;
    types.forget();
    return await read(await types.find(name));
  }
}
