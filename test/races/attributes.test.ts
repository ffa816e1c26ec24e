/** A rule that comes into force while its attribute is removed: one of both is refused, so no rule is left without its attribute. */
import { describe, expect, test } from 'vitest';
import { readDeclaredAttributes } from '../../src/accounts/attributes.ts';
import { declareAttribute, removeAttribute } from '../../src/administration/attributes/use-cases.ts';
import { applyRightsWithin } from '../../src/administration/rights/apply.ts';
import { applyRights } from '../../src/administration/rights/use-cases.ts';
import { createRole, grantByRule } from '../../src/administration/roles/use-cases.ts';
import { undeclaredFields } from '../../src/filter/fields.ts';
import { raceRounds, timeoutOf } from '../support/races.ts';
import { owner, useService } from '../support/service.ts';
import { waitingProcesses } from '../support/waiting.ts';

const service = useService();
const entity = 'walk';
const sources = {
  typeOf: async () => ({ revision: '0', fields: undeclaredFields }),
  companionOf: async () => undefined,
  variablesOfUsers: async () => [],
};
const filterBy = (attribute: string) => ({ zone: { $var: `user.${attribute}` } });

/** The files of a role with a rule that compares with the attribute. */
function applied(role: string, attribute: string) {
  const grants = [{ entity, name: 'zone', actions: ['read' as const], filter: filterBy(attribute) }];
  const roles = new Map([[role, { description: '', grants }]]);
  const files = { attributes: { user: new Map(), profile: new Map() }, roles, profiles: new Map() };
  return { files, claims: new Map(), prune: false, confirm: undefined };
}

/** Each way in which a rule that compares with the attribute comes into force. */
const ways: [string, (role: string, attribute: string) => Promise<unknown>][] = [
  [
    'role grant',
    (role, attribute) => {
      const variableTypes = async () => ({ names: [`user.${attribute}`], typeOf: () => 'string' as const });
      const rule = { entities: [entity], actions: ['read'] as const, name: 'zone', document: { filter: filterBy(attribute) } };
      return grantByRule(service().store, owner, role, { ...rule, sources: { ...sources, variableTypes } });
    },
  ],
  [
    'rights apply',
    (role, attribute) => {
      return applyRights(service().store, owner, applied(role, attribute));
    },
  ],
];

let n = 0;

describe.each(ways)('%s', (_, putInForce) => {
  test(`a rule and the removal of its attribute: ${raceRounds()} rounds`, { timeout: timeoutOf(raceRounds()) }, async () => {
    for (let round = 0; round < raceRounds(); round++) {
      n += 1;
      const [role, attribute] = [`scout${n}`, `zone${n}`];
      await createRole(service().store, owner, { name: role, description: '' });
      await declareAttribute(service().store, owner, { owner: 'user', name: attribute, schema: { type: 'string' } });
      const removal = () => removeAttribute(service().store, owner, { owner: 'user', name: attribute });
      const both = round % 2 ? [removal(), putInForce(role, attribute)] : [putInForce(role, attribute), removal()];
      const results = await Promise.allSettled(both);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const isDeclared = (await readDeclaredAttributes(service().db)).user.has(attribute);
      const rules = service().db.selectFrom('role_grant').innerJoin('role', 'role.id', 'role_id').where('role.name', '=', role);
      expect(await rules.select('entity').execute()).toHaveLength(isDeclared ? 1 : 0);
    }
  });
});

test('the removal waits for an application of rights that has not ended', async () => {
  await declareAttribute(service().store, owner, { owner: 'user', name: 'late', schema: { type: 'string' } });
  const trx = await service().db.startTransaction().execute();
  expect(await applyRightsWithin(trx, owner.actor, applied('late', 'late'))).toMatchObject({ isApplied: true });
  const removal = removeAttribute(service().store, owner, { owner: 'user', name: 'late' }).catch((error: unknown) => error);
  await expect.poll(async () => (await waitingProcesses.execute(service().db)).rows.length).toBeGreaterThan(0);
  await trx.commit().execute();
  expect(await removal).toMatchObject({ code: 'in-use' });
  expect((await readDeclaredAttributes(service().db)).user.has('late')).toBe(true);
});
