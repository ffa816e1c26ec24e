/** The client has all operations of the contract and no other, each with its method and path. */
import { describe, expect, test } from 'vitest';
import * as generated from '../../generated/client/sdk.gen.ts';
import { Batch, EntityServiceClient } from '../../src/client/index.ts';
import { readDocument, tableRows } from '../support/markdown.ts';
import { pathOf, operations as all, methodOf } from '../support/operations.ts';

/**
 * The operations for programs. Others are for browsers that a provider or the service redirects, or for providers, whose requests only they
 * can sign.
 */
const operations = all.filter(({ operationId, responses }) => !('303' in responses) && operationId !== 'logoutFromProvider');

/** Records the request of a client method, without a service. */
async function requestOf(call: (client: EntityServiceClient<'result'>) => Promise<unknown>): Promise<string> {
  const asked: string[] = [];
  const client = new EntityServiceClient({
    baseUrl: 'http://localhost',
    errors: 'result',
    fetch: async (url, init) => {
      asked.push(`${init.method} ${new URL(url).pathname}`);
      return new Response('{"code":"forbidden","status":403}', { status: 403, headers: { 'content-type': 'application/problem+json' } });
    },
  });
  await call(client);
  return asked.join(', ');
}

const note = { key: '42', version: 1 };
const id = '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17';

/** Each operation with the call by which a program uses it. */
const calls: Record<string, (client: EntityServiceClient<'result'>) => Promise<unknown>> = {
  createSession: (client) => client.createSession({ user: 'ada', password: 'x' }),
  getSession: (client) => client.getSession(),
  endSession: (client) => client.endSession(),
  refreshSession: (client) => client.refreshSession(),
  listProfiles: (client) => client.listProfiles(),
  checkOwnPermission: (client) => client.checkOwnPermission({ entity: 'customer', action: 'read' }),
  selectProfile: (client) => client.selectProfile('sales'),
  selectDefaultProfile: (client) => client.selectDefaultProfile(),
  changePassword: (client) => client.changePassword({ current: 'x', next: 'y' }),
  listSessions: (client) => client.listSessions(),
  revokeOtherSessions: (client) => client.revokeOtherSessions(),
  revokeSession: (client) => client.revokeSession(id),
  listIssuers: (client) => client.listIssuers(),
  linkIdentity: (client) => client.linkIdentity('corp', { returnTo: '/app' }),
  listIdentities: (client) => client.listIdentities(),
  unlinkIdentity: (client) => client.unlinkIdentity('4b1d6f0e-93c2-4a57-8d0b-6e2f7a9c5d31'),
  listKeys: (client) => client.listKeys(),
  createKey: (client) => client.createKey({ name: 'x' }),
  revokeKey: (client) => client.revokeKey('4fT9xKq2LmZa'),
  rotateKey: (client) => client.rotateKey('4fT9xKq2LmZa'),
  listEntityTypes: (client) => client.listEntityTypes(),
  getEntityType: (client) => client.getEntityType('customer'),
  describeEntity: (client) => client.entities('customer').describe(),
  planEntityType: (client) => client.planEntityType('customer', null),
  putEntityType: (client) => client.putEntityType('customer', { type: 'object' }),
  deleteEntityType: (client) => client.deleteEntityType('customer', '0'.repeat(64)),
  listEntities: (client) => client.entities('customer').list({ limit: 1 }).page(),
  queryEntities: (client) =>
    client
      .entities('customer')
      .list({ filter: { a: 'x'.repeat(3_000) } })
      .page(),
  aggregateEntities: (client) => client.entities('customer').aggregate({ measures: { n: { $count: true } } }),
  createEntity: (client) => client.entities('customer').create({}),
  upsertEntity: (client) => client.entities('customer').upsert({ company: 'Analytical Engines Ltd' }, { by: ['company'] }),
  getEntity: (client) => client.entities('customer').get(note.key),
  listVersions: (client) => client.entities('customer').history(note.key),
  createEntities: (client) => client.entities('customer').createMany([{}]),
  restoreEntity: (client) => client.entities('customer').restore(note, 1),
  exportEntities: (client) => client.entities('customer').exportTo(new WritableStream()),
  exportQuery: (client) => client.entities('customer').exportTo(new WritableStream(), { filter: { a: 'x'.repeat(4_000) } }),
  importEntities: (client) =>
    client
      .entities('customer')
      .importFrom([{}])
      .next()
      .catch(() => undefined),
  runBatch: (client) => client.runBatch(new Batch()),
  updateEntity: (client) => client.entities('customer').update(note, {}),
  deleteEntity: (client) => client.entities('customer').delete(note),
};

test('all operations of the contract are generated, and no others', () => {
  expect(Object.keys(generated).toSorted()).toEqual(all.map(({ operationId }) => operationId).toSorted());
});

test('all operations for programs have a method of the client, and the other way round', () => {
  expect(Object.keys(calls).toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
  const methods = Object.getOwnPropertyNames(EntityServiceClient.prototype).filter((name) => name !== 'constructor' && name !== 'entities');
  const isOfName = (operationId: string, tag: string) => ['Entities', 'Transfer'].includes(tag) || operationId === 'describeEntity';
  const ofEntities = operations.filter(({ operationId, tag }) => isOfName(operationId, tag)).map(({ operationId }) => operationId);
  expect([...methods, ...ofEntities].toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
});

describe.for(operations.map((operation) => [operation.operationId, operation] as const))('%s', ([operationId, operation]) => {
  test('has the contract’s method and path', async () => {
    expect(await requestOf(calls[operationId] ?? (() => expect.fail(operationId)))).toBe(`${methodOf(operation)} ${pathOf(operation)}`);
  });
});

test('the README names each method of entities, and no other', () => {
  const entities = Object.getPrototypeOf(new EntityServiceClient({ baseUrl: 'http://localhost' }).entities('note')) as object;
  const methods = Object.getOwnPropertyNames(entities).filter((name) => name !== 'constructor');
  const [intro = ''] = readDocument('src/client/README.md').split('## Authentication');
  const named = tableRows(intro).flatMap(([cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
  expect(named.toSorted()).toEqual(methods.toSorted());
});
