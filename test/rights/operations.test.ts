/**
 * Each operation that reads or writes entities is one of the random operations that are compared with the model of rights, or has a test of its rights that is named
 * here. The compiler asks for the operations of the model, and the test for those of openapi.yaml.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../support/operations.ts';
import type { Operation } from '../support/rights-world.ts';

const ofModel: Record<Operation['kind'], string> = {
  get: 'getEntity',
  version: 'getEntity',
  trashed: 'getEntity',
  list: 'listEntities',
  search: 'listEntities',
  trash: 'listEntities',
  query: 'queryEntities',
  aggregate: 'aggregateEntities',
  history: 'listVersions',
  create: 'createEntity',
  bulk: 'createEntities',
  upsert: 'upsertEntity',
  update: 'updateEntity',
  restore: 'restoreEntity',
  undelete: 'restoreEntity',
  delete: 'deleteEntity',
  batch: 'runBatch',
  import: 'importEntities',
  export: 'exportEntities',
};

const ofTests: Readonly<Record<string, string>> = {
  // It has the parts of the other export, with a filter from a body.
  exportQuery: 'transfer/export-query.test.ts',
  checkOwnPermission: 'permissions/random-explanations.test.ts',
  listEntityTypes: 'entity-types/typed-contract-rights.test.ts',
  getEntityType: 'entity-types/sensitive-fields.test.ts',
  putEntityType: 'entity-types/sensitive-fields.test.ts',
  deleteEntityType: 'entity-types/sensitive-fields.test.ts',
  planEntityType: 'entity-types/sensitive-fields.test.ts',
  describeEntity: 'entity-types/describe-entity.test.ts',
};

const tags = new Set(['Entities', 'Batch', 'Transfer', 'Entity types', 'Permissions']);

test('each operation on entities is compared with the model of rights, or has a test', () => {
  const known = new Set([...Object.values(ofModel), ...Object.keys(ofTests)]);
  const wanted = operations.filter(({ tag }) => tags.has(tag)).map(({ operationId }) => operationId);
  expect(wanted.length).toBeGreaterThan(18);
  expect([...known].toSorted()).toEqual(wanted.toSorted());
  const missing = Object.values(ofTests).filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)));
  expect(missing).toEqual([]);
});
