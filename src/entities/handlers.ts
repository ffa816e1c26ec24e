/** Entities over HTTP: list, create, retrieve, update, delete. */
import type { Handlers, Output } from '../contract/operation.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../authn/principal.ts';
import { authorize, isPermitted, type Permit } from '../rights/permit.ts';
import { publicPath } from '../config/public-url.ts';
import type { Context } from '../context.ts';
import type { EntityType } from '../entity-types/types.ts';
import { Problem } from '../errors.ts';
import { findVersion, keepOf, listVersions } from './history.ts';
import { aggregateEntities } from './aggregate.ts';
import { readAggregation } from './aggregate-request.ts';
import { createMany } from './bulk.ts';
import { Cursors } from './cursors.ts';
import { acceptedVersions, contentTag, etagOf, expectsNothing, isCurrent } from './etag.ts';
import { createOnce, findRepeat, readIdempotencyKey, type Created } from './idempotency.ts';
import { deleteEntity } from './delete.ts';
import { readByType, whileTypeIsCurrent } from './type-guard.ts';
import { isHeavy } from './heavy.ts';
import { readIncludes } from './include.ts';
import { itemTexts } from '../http/json-parts.ts';
import { readKey } from './key.ts';
import { listEntities, type ListedPage } from './list.ts';
import { readListBody, readListQuery, type ListRequest } from './list-request.ts';
import { pageLinks } from './links.ts';
import { representEntity } from './represent.ts';
import { restoreEntity } from './restore.ts';
import type { EntityRow } from './row.ts';
import { checkedBy, findEntity, findLight, insertEntity, stateOf, type Checked, type CheckedFields } from './store.ts';
import { updateEntity, type Change } from './update.ts';
import { upsertEntity } from './upsert.ts';
import { findView, readViewQuery } from './view.ts';

type EntityHandlers = Pick<
  Handlers,
  | 'listEntities'
  | 'queryEntities'
  | 'aggregateEntities'
  | 'createEntity'
  | 'createEntities'
  | 'upsertEntity'
  | 'getEntity'
  | 'listVersions'
  | 'restoreEntity'
  | 'updateEntity'
  | 'deleteEntity'
>;

export function entityHandlers({ config, store, entityTypes, entityQueues: queues }: Context): EntityHandlers {
  const entitiesPath = publicPath(config.publicUrl, '/rest/entity/');
  const writes = { store, queues, types: entityTypes };
  const changeOf = (patch: string, ifMatch: string | undefined): Change => ({
    patch,
    isHeavy: isHeavy(patch),
    versions: acceptedVersions(ifMatch),
    isGuarded: ifMatch !== undefined,
    // As PostgreSQL writes it, with a space after each comma and colon. Only numbers such as `1e308` can make a body longer than that.
    limitBytes: 2 * config.bodyLimitBytes,
  });
  const cursors = new Cursors(store);
  const readPage = (
    permit: Permit<'read'>,
    caller: Caller,
    requestFor: (type: EntityType | undefined) => Promise<ListRequest>,
  ): Promise<ListedPage> =>
    readByType(entityTypes, permit.entity, async (type) => {
      const request = await requestFor(type);
      return await queues.runList(permit, caller, () => listEntities(store, cursors, permit, request, type?.companion));
    });
  const includesOf = (principal: Principal, type: EntityType | undefined, names: readonly string[] = []) =>
    readIncludes(entityTypes, principal, type, names);
  return {
    async listEntities({ params, query, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const { body, ...edges } = await readPage(permit, caller, async (type) =>
        readListQuery(query, await includesOf(principal, type, query.include?.split(',')), type?.fields),
      );
      const tag = contentTag(body.text);
      if (isCurrent(headers['if-none-match'], tag)) return { status: 304, headers: { ETag: etagOf(tag) } };
      const link = pageLinks(entitiesPath + params.name, query, edges);
      return { status: 200, headers: { ETag: etagOf(tag), ...(link !== undefined && { Link: link }) }, body };
    },

    async queryEntities({ params, body: query, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const { body } = await readPage(permit, caller, async (type) =>
        readListBody(query, await includesOf(principal, type, query.include), type?.fields),
      );
      return { status: 200, headers: { ETag: etagOf(contentTag(body.text)) }, body };
    },

    async aggregateEntities({ params, body, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const answer = await readByType(entityTypes, params.name, (type) => {
        const request = readAggregation(body, type?.fields);
        return queues.runList(permit, caller, () => aggregateEntities(store, permit, request, type?.companion));
      });
      return { status: 200, body: answer };
    },

    async createEntity({ params, headers, body, bodyText, principal, caller, request }) {
      const permit = authorize(principal, params.name, 'create');
      const key = readIdempotencyKey(headers['idempotency-key'], request.raw.rawHeaders);
      const origin = caller.origin;
      const heavy = isHeavy(bodyText);
      const insertOne = async (fields: CheckedFields) => {
        const row = await insertEntity(store, permit, origin, fields, heavy);
        return row && created(row, entitiesPath);
      };
      const insertOnce = async (key: string, fields: CheckedFields) => {
        const once = await createOnce(store, permit, origin, key, fields);
        return once && createdOnce(once, entitiesPath);
      };
      const inTurn = <T>(job: () => Promise<T>) => (heavy ? queues.runHeavy(permit, caller, job) : job());
      return await whileTypeIsCurrent(entityTypes, params.name, async (type) => {
        let checked: Checked;
        try {
          type?.check(body);
          checked = checkedBy(type, body);
        } catch (error) {
          const repeat = key === undefined ? undefined : await inTurn(() => findRepeat(store, permit, key, bodyText));
          if (repeat) return createdOnce(repeat, entitiesPath);
          throw error;
        }
        const fields = { fields: bodyText, ...checked };
        const insert = () => (key === undefined ? insertOne(fields) : insertOnce(key, fields));
        return await inTurn(insert);
      });
    },

    async createEntities({ params, body, bodyText, principal, caller }) {
      const permit = authorize(principal, params.name, 'create');
      const texts = itemTexts(bodyText);
      const items = body.map((fields, index) => ({ fields, text: texts[index] ?? '{}' }));
      const created = await whileTypeIsCurrent(entityTypes, params.name, (type) =>
        createMany(writes, permit, caller, type, items, config.bodyLimitBytes),
      );
      return { status: 200, body: { items: created } };
    },

    async upsertEntity({ params, query, headers, body, bodyText, principal, caller }) {
      const isNew = expectsNothing(headers);
      const ifMatch = headers['if-match'];
      const permits = {
        create: ifMatch === undefined ? authorize(principal, params.name, 'create') : undefined,
        update: isNew ? undefined : authorize(principal, params.name, 'update'),
      };
      const { row, isCreated } = await upsertEntity(writes, params.name, permits, caller, {
        by: query.by ?? '',
        fields: body,
        ...changeOf(bodyText, ifMatch),
      });
      if (isCreated) return created(row, entitiesPath);
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: representEntity(row) };
    },

    async getEntity({ params, query, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const type = await entityTypes.find(params.name);
      const key = readKey(params.key);
      if (query.version !== undefined) {
        const { version } = query;
        if (query.fields !== undefined || query.include !== undefined)
          throw new Problem('malformed-request', { faults: [{ parameter: 'version', code: 'conflicting' }] });
        const keep = keepOf(type?.document);
        const found = await queues.runHeavyRead(permit, caller, async () => {
          const kept = await findVersion(store, permit, key, version, keep);
          const present = kept ? undefined : await findEntity(store, permit, key);
          return kept ?? (present?.version === version ? present : undefined);
        });
        if (!found) throw new Problem('not-found');
        const tag = { ETag: etagOf(found.version) };
        return isCurrent(headers['if-none-match'], found.version)
          ? { status: 304, headers: tag }
          : { status: 200, headers: tag, body: representEntity(found) };
      }
      if (query.fields !== undefined || query.include !== undefined) {
        const request = readViewQuery(query, await includesOf(principal, type, query.include?.split(',')), type?.fields);
        const view = await queues.runHeavyRead(permit, caller, () => findView(store, permit, key, request));
        if (!view) throw new Problem('not-found');
        if (isCurrent(headers['if-none-match'], view.tag)) return { status: 304, headers: { ETag: etagOf(view.tag) } };
        return { status: 200, headers: { ETag: etagOf(view.tag) }, body: view.body };
      }
      const light = await findLight(store, permit, key);
      if (!light) throw new Problem('not-found');
      if (isCurrent(headers['if-none-match'], light.version)) return { status: 304, headers: { ETag: etagOf(light.version) } };
      const row = light.fields !== null ? light : await queues.runHeavyRead(permit, caller, () => findEntity(store, permit, key));
      if (!row) throw new Problem('not-found');
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: representEntity(row) };
    },

    async listVersions({ params, query: { limit = '20', cursor }, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const keep = keepOf((await entityTypes.find(params.name))?.document);
      const key = readKey(params.key);
      const body = await queues.runHeavyRead(permit, caller, () =>
        listVersions(store, cursors, permit, key, { limit: Number(limit), cursor, keep }),
      );
      return { status: 200, body };
    },

    async restoreEntity({ params, query, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'update');
      const keep = keepOf((await entityTypes.find(params.name))?.document);
      const row = await restoreEntity(writes, permit, caller, readKey(params.key), {
        version: query.version ?? '',
        versions: acceptedVersions(headers['if-match']),
        isGuarded: headers['if-match'] !== undefined,
        keep,
        limitBytes: 2 * config.bodyLimitBytes,
      });
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: representEntity(row) };
    },

    async updateEntity({ params, headers, bodyText, principal, caller }) {
      const permit = authorize(principal, params.name, 'update');
      const row = await updateEntity(writes, permit, caller, readKey(params.key), changeOf(bodyText, headers['if-match']));
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: representEntity(row) };
    },

    async deleteEntity({ params, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'delete');
      const readable = (name: string) => (isPermitted(principal, name, 'read') ? authorize(principal, name, 'read') : undefined);
      return await whileTypeIsCurrent(entityTypes, params.name, async (type) => {
        const key = readKey(params.key);
        const versions = acceptedVersions(headers['if-match']);
        const typeRevision = type?.revision ?? '0';
        const isUnguarded = type?.requiresIfMatch === true && headers['if-match'] === undefined;
        const deletion = { versions, type, readable };
        if (!isUnguarded && (await deleteEntity(writes, permit, caller, key, deletion))) return { status: 204 };
        const state = await stateOf(store, permit, key);
        if (!state) throw new Problem('not-found');
        if (state.typeRevision !== typeRevision) return undefined;
        throw new Problem(isUnguarded ? 'precondition-required' : 'precondition-failed');
      });
    },
  };
}

/** The answer to the request that has created the row. `entitiesPath` is the path of all entities, with a slash at the end. */
function created(row: EntityRow, entitiesPath: string): Output<'createEntity'> {
  const location = `${entitiesPath}${row.name}/${row.key}`;
  return { status: 201, headers: { Location: location, ETag: etagOf(row.version) }, body: representEntity(row) };
}

/** The same, marked if the row had been created before. */
function createdOnce({ row, replayed }: Created, entitiesPath: string): Output<'createEntity'> {
  const answer = created(row, entitiesPath);
  return replayed ? { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } } : answer;
}
