/** That the client has every operation of the contract and no other, each where the contract puts it. */
import { describe, expect, test } from 'vitest';
import * as generated from '../../generated/client/sdk.gen.ts';
import { EntityServiceClient } from '../../src/client/index.ts';
import { pathOf, operations as all, methodOf } from '../support/operations.ts';

/**
 * Operations that a program calls: a client could only follow where others send a browser, which is what must go there; and what a provider
 * calls needs what only the provider can sign.
 */
const operations = all.filter(({ operationId, responses }) => !('303' in responses) && operationId !== 'logoutFromProvider');

/** What a method of the client asks for, without a service. */
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

/** Operation → how a program calls it. */
const calls: Record<string, (client: EntityServiceClient<'result'>) => Promise<unknown>> = {
  createSession: (client) => client.createSession({ user: 'ada', password: 'x' }),
  getSession: (client) => client.getSession(),
  endSession: (client) => client.endSession(),
  refreshSession: (client) => client.refreshSession(),
  listProfiles: (client) => client.listProfiles(),
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
  createEntity: (client) => client.entities('customer').create({}),
  getEntity: (client) => client.entities('customer').get(note.key),
  updateEntity: (client) => client.entities('customer').update(note, {}),
  deleteEntity: (client) => client.entities('customer').delete(note),
};

test('every operation of the contract is generated, and no other is', () => {
  expect(Object.keys(generated).toSorted()).toEqual(all.map(({ operationId }) => operationId).toSorted());
});

test('every operation that a program calls has a method of the client, and the other way round', () => {
  expect(Object.keys(calls).toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
  const methods = Object.getOwnPropertyNames(EntityServiceClient.prototype).filter((name) => name !== 'constructor' && name !== 'entities');
  const ofEntities = operations.filter(({ tag }) => tag === 'Entities').map(({ operationId }) => operationId);
  expect([...methods, ...ofEntities].toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
});

describe.for(operations.map((operation) => [operation.operationId, operation] as const))('%s', ([operationId, operation]) => {
  test('goes where the contract says', async () => {
    expect(await requestOf(calls[operationId] ?? (() => expect.fail(operationId)))).toBe(`${methodOf(operation)} ${pathOf(operation)}`);
  });
});
