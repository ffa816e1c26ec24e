/** Entities over HTTP: list, create, retrieve, update, delete. */
import type { FastifyRequest } from 'fastify';
import type { Handlers, Output } from '../contract/operation.ts';
import type { PresentPrincipal } from '../authn/authenticate.ts';
import type { Principal } from '../rights/principal.ts';
import { authorize, authorizeTrash, authorizeUpdate, isPermitted, type Permit } from '../rights/permit.ts';
import { publicPath } from '../config/public-url.ts';
import type { EntityContext } from './reading/context.ts';
import type { EntityType } from '../entity-types/types.ts';
import type { FreshResult } from '../database/standby/readers.ts';
import { Problem } from '../problems/errors.ts';
import { entityLimitOf } from './entity-limits.ts';
import { historyRetention } from './retention.ts';
import { readAggregation } from './querying/aggregate-request.ts';
import { createMany } from './writing/bulk.ts';
import { entityTag, etagOf, expectsNothing, isCurrent } from './etag.ts';
import { wholeView, type FieldView } from '../rights/field-view.ts';
import { createEntity } from './writing/create.ts';
import { readClaim } from './idempotency/idempotency.ts';
import { removeEntity, type RemovalRequest } from './writing/delete.ts';
import { whileTypeIsCurrent } from './writing/type-guard.ts';
import { isHeavy } from './size-classes.ts';
import { describePath, shownPath, type AccessPath } from './querying/access-path.ts';
import { readIncludes } from './querying/include.ts';
import { itemTexts } from '../json/json-parts.ts';
import { readKey } from './key.ts';
import { readWantedLabels } from './querying/labels.ts';
import { readListBody, readListQuery, type WantedBeside } from './querying/list-request.ts';
import { pageLinks } from './links.ts';
import { scopeFor } from './querying/scope.ts';
import { shownTypes } from './shown-rows.ts';
import { undeclaredFields } from '../filter/fields.ts';
import { pastEntity } from './history/past.ts';
import { purgeInPortions, type PresentPurge } from './writing/portions.ts';
import { purgeEntity } from './writing/purge.ts';
import { EntityReading } from './reading/reading.ts';
import { representEntity } from './represent.ts';
import { writeOnce, type OnceDone } from './writing/once.ts';
import { changeOnce } from './writing/replay.ts';
import { restoreEntity } from './writing/restore.ts';
import type { EntityRow } from './row.ts';
import { guardOfHeader } from './writing/rules.ts';
import type { Change } from './writing/merge.ts';
import { updateEntity, type Writes } from './writing/update.ts';
import { upsertOnce } from './writing/upsert.ts';
import { findView, readViewQuery } from './querying/view.ts';
import { findEntity, findLight } from './find-entity.ts';

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

export function entityHandlers(context: EntityContext, presentPrincipal: PresentPrincipal): EntityHandlers {
  const { config, store, entityTypes, admission } = context;
  const entitiesPath = publicPath(config.publicUrl, '/rest/entity/');
  const writes = { store, admission, types: entityTypes };
  const filterSources = { types: entityTypes, attributes: context.attributes };
  const changeOf = (patch: string, ifMatch: string | undefined): Change => ({
    patch,
    isHeavy: isHeavy(patch),
    ...guardOfHeader(ifMatch),
    limitBytes: entityLimitOf(config),
  });
  const reading = new EntityReading(context);
  const permitToList = (principal: Principal, name: string, deleted: 'only' | undefined) =>
    deleted === undefined ? authorize(principal, name, 'read') : authorizeTrash(principal, name);
  const includesOf = (principal: Principal, of: { name: string; type: EntityType | undefined }, names: readonly string[] = []) =>
    readIncludes(entityTypes, principal, of, names);
  const labelsOf = (principal: Principal, of: { name: string; type: EntityType | undefined }, isWanted: boolean | undefined) =>
    isWanted ? readWantedLabels(entityTypes, principal, of) : undefined;
  const besideOf = async (
    principal: Principal,
    of: { name: string; type: EntityType | undefined },
    { names, hasLabels }: { names: readonly string[] | undefined; hasLabels: boolean | undefined },
  ): Promise<WantedBeside> => ({ ...(await includesOf(principal, of, names)), labels: await labelsOf(principal, of, hasLabels) });
  return {
    async listEntities({ params, query, headers, principal, caller, request }) {
      const permit = permitToList(principal, params.name, query.deleted);
      const found = await reading.page(permit, { caller, headers }, async (type) =>
        readListQuery(
          query,
          await besideOf(principal, { name: params.name, type }, { names: query.include?.split(','), hasLabels: query.labels === '1' }),
          scopeFor(filterSources, principal, { name: params.name, type }),
        ),
      );
      const { body, tag, etag, path, ...edges } = found.value;
      notePath(request, permit, path);
      const answer = { ETag: etag, ...consistencyOf(found) };
      if (isCurrent(headers['if-none-match'], tag)) return { status: 304, headers: answer };
      const link = pageLinks(entitiesPath + params.name, query, edges);
      return { status: 200, headers: { ...answer, ...(link !== undefined && { Link: link }) }, body };
    },

    async queryEntities({ params, headers, body: query, principal, caller, request }) {
      const permit = permitToList(principal, params.name, query.deleted);
      const found = await reading.page(permit, { caller, headers }, async (type) =>
        readListBody(
          query,
          await besideOf(principal, { name: params.name, type }, { names: query.include, hasLabels: query.labels }),
          scopeFor(filterSources, principal, { name: params.name, type }),
        ),
      );
      const { body, etag, path } = found.value;
      notePath(request, permit, path);
      return { status: 200, headers: { ETag: etag, ...consistencyOf(found) }, body };
    },

    async aggregateEntities({ params, headers, body, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const found = await reading.groups(permit, { caller, headers }, (type) =>
        readAggregation(body, scopeFor(filterSources, principal, { name: params.name, type })),
      );
      return { status: 200, headers: consistencyOf(found), body: found.value };
    },

    async createEntity({ params, headers, body, bodyText, principal, caller, request }) {
      const permit = authorize(principal, params.name, 'create');
      const claim = readClaim({ headers, request }, permit, 'createEntity', bodyText);
      return created(
        permit.view,
        await createEntity(writes, permit, caller, { fields: body, text: bodyText, claim, limitBytes: entityLimitOf(config) }),
        entitiesPath,
      );
    },

    async createEntities({ params, headers, body, bodyText, principal, caller, request }) {
      const permit = authorize(principal, params.name, 'create');
      const texts = itemTexts(bodyText);
      const items = body.map((fields, index) => ({ fields, text: texts[index] ?? '{}' }));
      const { outcome, isReplayed } = await writeOnce(writes, permit, caller, {
        claim: readClaim({ headers, request }, permit, 'createEntities', bodyText),
        isHeavy: true,
        write: (within) =>
          whileTypeIsCurrent(within.types, params.name, (type) => createMany(within, permit, caller, type, items, config.bodyLimitBytes)),
        effectsOf: (keys) => keys.map(({ key, version }) => ({ status: 201, key, version: String(version) })),
        replay: async (effects) => effects.map(({ key, version }) => ({ key, version: Number(version) })),
      });
      return { status: 200, headers: replayed(isReplayed), body: { items: outcome } };
    },

    async upsertEntity({ params, query, headers, body, bodyText, principal, caller, request }) {
      const isNew = expectsNothing(headers);
      const ifMatch = headers['if-match'];
      const permits = {
        create: ifMatch === undefined ? authorize(principal, params.name, 'create') : undefined,
        update: isNew ? undefined : authorizeUpdate(principal, params.name),
      };
      const upsert = { by: query.by ?? '', fields: body, ...changeOf(bodyText, ifMatch) };
      const place = { userName: principal.user.name, entity: params.name };
      const claim = readClaim({ headers, request }, place, 'upsertEntity', bodyText, [query.by, ifMatch, headers['if-none-match']]);
      const { outcome, isReplayed } = await upsertOnce(writes, params.name, permits, caller, upsert, claim);
      const { row, isCreated } = outcome;
      const view = (isCreated ? permits.create : permits.update)?.view ?? wholeView;
      return isCreated ? created(view, { outcome: row, isReplayed }, entitiesPath) : changed(view, { outcome: row, isReplayed });
    },

    async getEntity({ params, query, headers, principal, caller }) {
      const past = pastEntity(writes, principal, params.name, query);
      if (past) {
        const keep = historyRetention((await entityTypes.find(params.name))?.document);
        const found = await admission.run('heavy-read', { flow: past.permit.userName, caller }, () => past.find(readKey(params.key), keep));
        if (!found) throw new Problem('not-found');
        const { row, position } = found;
        const place = position === undefined ? {} : { 'Content-Location': `${entitiesPath}${params.name}/${row.key}?asOf=${position}` };
        const tag = entityTag(past.permit.view, row);
        const answer = { headers: { ETag: etagOf(tag), ...place } };
        if (isCurrent(headers['if-none-match'], tag)) return { status: 304, ...answer };
        return { status: 200, ...answer, body: representEntity(row) };
      }
      const permit = authorize(principal, params.name, 'read');
      const type = await entityTypes.find(params.name);
      const key = readKey(params.key);
      if (query.fields !== undefined || query.include !== undefined || query.labels === '1') {
        const shown = shownTypes(type?.fields ?? undeclaredFields, permit.view);
        const of = { name: params.name, type };
        const viewed = readViewQuery(query, await includesOf(principal, of, query.include?.split(',')), shown);
        const request = { ...viewed, labels: await labelsOf(principal, of, query.labels === '1') };
        const read = () => findView(store, permit, key, request);
        const light = query.include === undefined && !request.labels ? await findLight(store, permit, key) : undefined;
        // A view of a small entity takes no place among heavy reads.
        const view =
          light && light.fields !== null ? await read() : await admission.run('heavy-read', { flow: permit.userName, caller }, read);
        if (!view) throw new Problem('not-found');
        if (isCurrent(headers['if-none-match'], view.tag)) return { status: 304, headers: { ETag: etagOf(view.tag) } };
        return { status: 200, headers: { ETag: etagOf(view.tag) }, body: view.body };
      }
      const light = await findLight(store, permit, key);
      if (!light) throw new Problem('not-found');
      const isWhole = permit.view.kind === 'whole';
      if (isWhole && isCurrent(headers['if-none-match'], light.version)) return { status: 304, headers: { ETag: etagOf(light.version) } };
      const row =
        light.fields !== null
          ? light
          : await admission.run('heavy-read', { flow: permit.userName, caller }, () => findEntity(store, permit, key));
      if (!row) throw new Problem('not-found');
      const tag = entityTag(permit.view, row);
      if (!isWhole && isCurrent(headers['if-none-match'], tag)) return { status: 304, headers: { ETag: etagOf(tag) } };
      return { status: 200, headers: { ETag: etagOf(tag) }, body: representEntity(row) };
    },

    async listVersions({ params, query: { limit = '20', cursor, labels: hasLabels }, headers, principal, caller }) {
      const permit = authorize(principal, params.name, 'read');
      const labels =
        hasLabels === '1'
          ? await readWantedLabels(entityTypes, principal, { name: params.name, type: await entityTypes.find(params.name) })
          : undefined;
      const found = await reading.versions(permit, { caller, headers }, readKey(params.key), { limit: Number(limit), cursor, labels });
      return { status: 200, headers: consistencyOf(found), body: found.value };
    },

    async restoreEntity({ params, query, headers, body, bodyText, principal, caller, request }) {
      const permit = authorizeUpdate(principal, params.name);
      const keep = historyRetention((await entityTypes.find(params.name))?.document);
      const key = readKey(params.key);
      const { version } = query;
      const ifMatch = headers['if-match'];
      const restoration = {
        // What an entity was is history, which an update does not show.
        from: version === undefined ? undefined : { version, read: authorize(principal, params.name, 'read') },
        trash: isPermitted(principal, params.name, 'read') ? authorizeTrash(principal, params.name) : undefined,
        patch: body === undefined ? undefined : bodyText,
        ...guardOfHeader(ifMatch),
        keep,
        limitBytes: entityLimitOf(config),
      };
      const claim = readClaim({ headers, request }, permit, 'restoreEntity', bodyText, [key, version, ifMatch]);
      const write = (within: Writes) => restoreEntity(within, permit, caller, key, restoration);
      return changed(permit.view, await changeOnce(writes, permit, caller, { claim, isHeavy: true, write }));
    },

    async updateEntity({ params, headers, bodyText, principal, caller, request }) {
      const permit = authorizeUpdate(principal, params.name);
      const key = readKey(params.key);
      const change = changeOf(bodyText, headers['if-match']);
      const claim = readClaim({ headers, request }, permit, 'updateEntity', bodyText, [key, headers['if-match']]);
      const write = (within: Writes) => updateEntity(within, permit, caller, key, change);
      return changed(permit.view, await changeOnce(writes, permit, caller, { claim, isHeavy: change.isHeavy, isPatch: true, write }));
    },

    async deleteEntity({ params, query, headers, principal, caller, request }) {
      const { name } = params;
      const key = readKey(params.key);
      const ifMatch = headers['if-match'];
      const guard = guardOfHeader(ifMatch);
      const isPurge = query.purge === '1';
      const deletionBy = (present: Principal): PresentPurge<boolean> => {
        const authorizeDelete = () => authorize(present, name, 'delete');
        const purge = isPurge ? authorize(present, name, 'purge') : undefined;
        const permit = purge ?? authorizeDelete();
        const removal: RemovalRequest = {
          key,
          ...guard,
          readable: (each) => (isPermitted(present, each, 'read') ? authorize(present, each, 'read') : undefined),
        };
        const claim = readClaim({ headers, request }, permit, 'deleteEntity', '', [key, ifMatch, query.purge]);
        const run = async () => {
          const { isReplayed } = await writeOnce(writes, permit, caller, {
            claim,
            isHeavy: isPurge,
            async write(within) {
              if (purge) await purgeEntity(within, purge, authorizeDelete, caller, removal);
              else await removeEntity(within, authorizeDelete(), caller, removal);
              return true;
            },
            effectsOf: () => [{ status: 204, key, version: null }],
            replay: async () => true,
          });
          return isReplayed;
        };
        return { removal, authorizeDelete, run };
      };
      const deletion = deletionBy(principal);
      const present = async () => deletionBy(await presentPrincipal(request));
      const isReplayed = await (isPurge ? purgeInPortions(writes, caller, deletion, present) : deletion.run());
      return { status: 204, headers: replayed(isReplayed) };
    },
  };
}

/** Logs how the page was read, and lets `Server-Timing` show it to its caller. */
function notePath(request: FastifyRequest, permit: Permit<'read' | 'update'>, path: AccessPath): void {
  request.log.debug({ event: 'list.read', name: permit.entity, path: describePath(path) });
  request.accessPath = shownPath(permit, path).path;
}

const consistencyOf = ({ consistency }: FreshResult<unknown>) => (consistency === undefined ? {} : { Consistency: consistency });

const replayed = (isReplayed: boolean) => (isReplayed ? { 'Idempotency-Replayed': 'true' as const } : {});

/** The answer to the request that has created the entity, or repeats the one that has. `entitiesPath` is the path of all entities, with a slash at the end. */
function created(view: FieldView, { outcome: row, isReplayed }: OnceDone<EntityRow>, entitiesPath: string): Output<'createEntity'> {
  const tag = entityTag(view, row);
  const headers = { Location: `${entitiesPath}${row.name}/${row.key}`, ETag: etagOf(tag), ...replayed(isReplayed) };
  return { status: 201, headers, body: representEntity(row) };
}

/** The answer to a request that has changed the entity, or repeats one that has. */
function changed(view: FieldView, { outcome: row, isReplayed }: OnceDone<EntityRow>): Output<'updateEntity'> {
  return { status: 200, headers: { ETag: etagOf(entityTag(view, row)), ...replayed(isReplayed) }, body: representEntity(row) };
}
