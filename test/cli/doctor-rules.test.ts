/** The findings of `doctor` about rules of roles that do not bind. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { checkRules } from '../../src/cli/doctor-rules.ts';
import { declareType } from '../support/entities.ts';
import { userWith } from '../support/ruled-roles.ts';
import { useService } from '../support/service.ts';

const service = useService();
const find = () => checkRules(service().db, service().context.config, []);

test('rules that fit are in order, and one whose field, attribute or document is gone is named with its role (rule 170)', async () => {
  const properties = { region: { type: 'string' }, state: { type: 'string' } };
  await declareType(service(), 'order', { type: 'object', additionalProperties: false, properties });
  await userWith(
    service(),
    'clerk',
    { entity: 'order', name: 'region', actions: ['read', 'update'], rule: { filter: { region: 'north' } } },
    { entity: 'order', name: 'state', actions: ['read'], rule: { filter: { state: 'draft' } } },
    { entity: '*', name: 'mine', actions: ['read'], rule: { filter: { $createdBy: { $var: 'user.name' } } } },
  );
  expect(await find()).toEqual({ status: 'ok', message: 'the rules of roles fit the types and the declared attributes' });
  await declareType(service(), 'order', { type: 'object', additionalProperties: false, properties: { state: properties.state } });
  await sql`insert into role_grant (role_id, entity, action, condition, name)
    select id, 'order', 'delete', ${'0'.repeat(64)}, 'lost' from role where name = 'clerk'`.execute(service().db);
  const { status, message } = await find();
  expect(status).toBe('warn');
  expect(message.split('. ')[0]?.split('; ')).toEqual([
    'the rule lost of clerk for order (it is not in the database)',
    'the rule region of clerk for order (/filter/region unknown-field)',
  ]);
});
