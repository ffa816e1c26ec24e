/** The operations on the entities of a name: the verb of the operation id of a type, and the action that it needs. */
import type { operations } from '../../../generated/operations.ts';
import type { OperationId } from '../../contract/operation.ts';
import type { Action } from '../../rights/vocabulary.ts';

/** Those with the tag `Entities`. Exports and imports have another one: streams have no schema, so theirs says nothing of the type. */
type EntityOperation = { [Id in OperationId]: (typeof operations)[Id]['tag'] extends 'Entities' ? Id : never }[OperationId];

export const entityOperations: Readonly<Record<EntityOperation, { verb: string; action: Action }>> = {
  listEntities: { verb: 'list', action: 'read' },
  queryEntities: { verb: 'query', action: 'read' },
  aggregateEntities: { verb: 'aggregate', action: 'read' },
  createEntity: { verb: 'create', action: 'create' },
  createEntities: { verb: 'createMany', action: 'create' },
  upsertEntity: { verb: 'upsert', action: 'update' },
  getEntity: { verb: 'get', action: 'read' },
  listVersions: { verb: 'listVersions', action: 'read' },
  updateEntity: { verb: 'update', action: 'update' },
  restoreEntity: { verb: 'restore', action: 'update' },
  deleteEntity: { verb: 'delete', action: 'delete' },
};
