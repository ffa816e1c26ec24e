/** Entities over HTTP: create, retrieve, update, delete. */
import { JsonText, type Handlers } from '../api/operation.ts';
import type { components } from '../../generated/api.ts';
import { originOf } from '../audit/store.ts';
import { authorize } from '../authn/principal.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { acceptedVersions, etagOf, isCurrent } from './etag.ts';
import { readKey } from './key.ts';
import { find, insert, remove, update, versionOf, type EntityRow } from './store.ts';

type EntityHandlers = Pick<Handlers, 'createEntity' | 'getEntity' | 'updateEntity' | 'deleteEntity'>;

export function entityHandlers({ config, pool }: Context): EntityHandlers {
  return {
    async createEntity({ params, bodyText, principal, request }) {
      const row = await insert(pool, authorize(principal, params.name, 'create'), originOf(request), bodyText);
      const location = `/rest/entity/${row.name}/${row.key}`;
      return { status: 201, headers: { Location: location, ETag: etagOf(row.version) }, body: represent(row) };
    },

    async getEntity({ params, headers, principal }) {
      const row = await find(pool, authorize(principal, params.name, 'read'), readKey(params.key));
      if (!row) throw new Problem('not-found');
      const ETag = etagOf(row.version);
      if (isCurrent(headers['if-none-match'], row.version)) return { status: 304, headers: { ETag } };
      return { status: 200, headers: { ETag }, body: represent(row) };
    },

    async updateEntity({ params, headers, bodyText, principal, request }) {
      const permit = authorize(principal, params.name, 'update');
      const key = readKey(params.key);
      const versions = acceptedVersions(headers['if-match']);
      // What merging makes may not outgrow what creating allows by more than PostgreSQL's spacing and number notation can.
      const limitBytes = 4 * config.bodyLimitBytes;
      const row = await update(pool, permit, originOf(request), key, { patch: bodyText, versions, limitBytes });
      if (!row)
        throw await whyNot(versionOf(pool, permit, key), versions, new Problem('content-too-large', { values: { limit: limitBytes } }));
      return { status: 200, headers: { ETag: etagOf(row.version) }, body: represent(row) };
    },

    async deleteEntity({ params, headers, principal, request }) {
      const permit = authorize(principal, params.name, 'delete');
      const key = readKey(params.key);
      const versions = acceptedVersions(headers['if-match']);
      if (!(await remove(pool, permit, originOf(request), key, versions)))
        throw await whyNot(versionOf(pool, permit, key), versions, new Problem('not-found'));
      return { status: 204 };
    },
  };
}

/** The entity as the contract shows it, with its fields spliced in as the database wrote them. */
function represent(row: EntityRow): JsonText<components['schemas']['Entity']> {
  const created = `"createdAt":"${row.createdAt.toISOString()}","createdBy":${JSON.stringify(row.createdBy)}`;
  const updated = `"updatedAt":"${row.updatedAt.toISOString()}","updatedBy":${JSON.stringify(row.updatedBy)}`;
  return new JsonText(`{"name":"${row.name}","key":"${row.key}","version":${row.version},${created},${updated},"fields":${row.fields}}`);
}

/** Why a guarded statement touched no row: there is none (404), its version is another (412), or what is left: `otherwise`. */
async function whyNot(version: Promise<string | undefined>, accepted: string[] | null, otherwise: Problem): Promise<Problem> {
  const present = await version;
  if (present === undefined) return new Problem('not-found');
  return accepted && !accepted.includes(present) ? new Problem('precondition-failed') : otherwise;
}
