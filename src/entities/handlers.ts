/** Entities over HTTP: create, retrieve, update, delete. */
import { JsonText, type Handlers, type Output } from '../contract/operation.ts';
import type { components } from '../../generated/api.ts';
import { authorize } from '../rights/permit.ts';
import { publicPath } from '../config/public-url.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { insertMany } from './grouped-writes.ts';
import { acceptedVersions, etagOf, isCurrent } from './etag.ts';
import { createOnce, readIdempotencyKey } from './idempotency.ts';
import { isHeavy } from './heavy.ts';
import { readKey } from './key.ts';
import type { EntityRow } from './row.ts';
import { findEntity, findLight, insertEntity, deleteEntity, versionOf } from './store.ts';
import { updateEntity } from './update.ts';

type EntityHandlers = Pick<Handlers, 'createEntity' | 'getEntity' | 'updateEntity' | 'deleteEntity'>;

export function entityHandlers({ config, store, entityTypes, entityQueues: queues }: Context): EntityHandlers {
  const entitiesPath = publicPath(config.publicUrl, '/rest/entity/');
  return {
    async createEntity({ params, headers, body, bodyText, principal, caller, request }) {
      const permit = authorize(principal, params.name, 'create');
      const key = readIdempotencyKey(headers['idempotency-key'], request.raw.rawHeaders);
      entityTypes.find(params.name)?.check(body);
      const origin = caller.origin;
      const insertOne = async (insertRow: (row: string) => Promise<EntityRow | undefined>) =>
        created(await insertEntity(insertRow, permit, origin, bodyText), entitiesPath);
      const insertOnce = async (key: string) => {
        const { row, replayed } = await createOnce(store, permit, origin, key, bodyText);
        const answer = created(row, entitiesPath);
        return replayed ? { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' as const } } : answer;
      };
      if (isHeavy(bodyText))
        return await queues.runHeavy(permit, caller, () =>
          key === undefined ? insertOne((row) => store.writeAlone(insertMany, row)) : insertOnce(key),
        );
      return await (key === undefined ? insertOne((row) => store.writeGrouped(insertMany, row)) : insertOnce(key));
    },

    async getEntity({ params, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      entityTypes.find(params.name);
      const key = readKey(params.key);
      const light = await findLight(store, permit, key);
      if (!light) throw new Problem('not-found');
      if (isCurrent(headers['if-none-match'], light.version)) return { status: 304, headers: { ETag: etagOf(light.version) } };
      const row = light.fields !== null ? light : await queues.runHeavyRead(permit, caller, () => findEntity(store, permit, key));
      if (!row) throw new Problem('not-found');
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: represent(row) };
    },

    async updateEntity({ params, headers, bodyText, principal, caller }) {
      const permit = authorize(principal, params.name, 'update');
      const row = await updateEntity({ store, queues }, permit, caller, readKey(params.key), {
        patch: bodyText,
        isHeavy: isHeavy(bodyText),
        versions: acceptedVersions(headers['if-match']),
        isGuarded: headers['if-match'] !== undefined,
        type: entityTypes.find(params.name),
        // As PostgreSQL writes it, with a space after each comma and colon. Only numbers such as `1e308` can make a body longer than that.
        limitBytes: 2 * config.bodyLimitBytes,
      });
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: represent(row) };
    },

    async deleteEntity({ params, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'delete');
      const type = entityTypes.find(params.name);
      const key = readKey(params.key);
      const versions = acceptedVersions(headers['if-match']);
      const isUnguarded = type?.requiresIfMatch === true && headers['if-match'] === undefined;
      if (!isUnguarded && (await deleteEntity(store, permit, caller.origin, key, versions))) return { status: 204 };
      if ((await versionOf(store, permit, key)) === undefined) throw new Problem('not-found');
      throw new Problem(isUnguarded ? 'precondition-required' : 'precondition-failed');
    },
  };
}

/** The answer to the request that has created the row. `entitiesPath` is the path of all entities, with a slash at the end. */
function created(row: EntityRow, entitiesPath: string): Output<'createEntity'> {
  const location = `${entitiesPath}${row.name}/${row.key}`;
  return { status: 201, headers: { Location: location, ETag: etagOf(row.version) }, body: represent(row) };
}

/** The entity as the contract shows it, with its fields spliced in as the database wrote them. */
function represent(row: EntityRow): JsonText<components['schemas']['Entity']> {
  const created = `"createdAt":"${row.createdAt.toISOString()}","createdBy":${JSON.stringify(row.createdBy)}`;
  const updated = `"updatedAt":"${row.updatedAt.toISOString()}","updatedBy":${JSON.stringify(row.updatedBy)}`;
  return new JsonText(`{"name":"${row.name}","key":"${row.key}","version":${row.version},${created},${updated},"fields":${row.fields}}`);
}
