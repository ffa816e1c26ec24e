/** What `doctor` says of profiles that write and lack a right to read. */
import { beforeAll, expect, test } from 'vitest';
import { checkReadRights } from '../../src/cli/doctor-rights.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import { declareType } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();

beforeAll(async () => {
  await declareType(service(), 'customer', { type: 'object' });
  const properties = { customer: { type: 'string', format: 'int64' } };
  await declareType(service(), 'order', { type: 'object', properties, 'x-references': { customer: { to: 'customer' } } });
});

test('keys whose scopes update and do not read are named, unless they have ended (rule 116)', async () => {
  const { id } = await service().createUser('scoped');
  const scopes = (actions: Action[]) => [{ entity: 'note', actions }];
  await service().createKey(id, { name: 'whole', scopes: scopes(['read', 'update']) });
  await service().createKey(id, { name: 'blind', scopes: scopes(['update']) });
  await service().createKey(id, { name: 'ended', scopes: scopes(['update']) });
  await service().db.updateTable('api_key').set({ revoked_at: new Date() }).where('name', '=', 'ended').execute();
  const { message } = await checkReadRights(service().db);
  expect(message.split('. ')[0]).toBe('the key blind of scoped updates note without `read`');
  await service().db.deleteFrom('api_key').execute();
});

test('profiles that may read what they write and refer to are in order, and those that lack a right are named (rules 115 and 116)', async () => {
  await service().createUser('all');
  await service().createUser('reader', { order: ['read'] });
  await service().createUser('creator', { order: ['create'], customer: ['read'] });
  await service().createUser('labeller', { order: ['create'], customer: ['label'] });
  expect((await checkReadRights(service().db)).status).toBe('ok');
  await service().createUser('blind', { order: ['create'] });
  await service().createUser('owner', { order: ['read', 'update'], customer: { actions: ['read'], condition: 'own' } });
  await service().createUser('writer', { note: ['update'] });
  const { status, message } = await checkReadRights(service().db);
  expect(status).toBe('warn');
  expect(message.split('. ')[0]?.split('; ')).toEqual([
    'blind writes order, which refers to customer, without `label` or `read` of it',
    'owner writes order, which refers to customer, and sees own entities of it alone',
    'writer updates note without `read`',
  ]);
});
