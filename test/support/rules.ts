/** Callers whose role has grants with rules. */
import type { RuleDocument } from '../../src/rights/rule.ts';
import { digestOfRule } from '../../src/rights/rule-document.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import type { Call, TestService } from './service.ts';

export interface RuleGrant {
  entity: string;
  actions: Action[];
  /** Without a rule the grant is `condition`. */
  rule?: RuleDocument;
  condition?: 'any' | 'own';
}

/** The session of a new user with these grants and no others. The rules are stored as they are, whether or not a command would refuse them. */
export async function callerWith(service: TestService, name: string, grants: readonly RuleGrant[]): Promise<Call> {
  const { id } = await service.createUser(name, {});
  const role = await service.db.selectFrom('role').where('name', '=', name).select('id').executeTakeFirstOrThrow();
  for (const [index, { entity, actions, rule, condition = 'any' }] of grants.entries()) {
    const digest = rule && digestOfRule(rule);
    if (rule && digest !== undefined)
      await service.db
        .insertInto('grant_rule')
        .values({ digest, document: JSON.stringify(rule) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    const rows = actions.map((action) => ({
      role_id: role.id,
      entity,
      action,
      condition: digest ?? condition,
      name: digest === undefined ? null : `rule ${index}`,
    }));
    await service.db.insertInto('role_grant').values(rows).execute();
  }
  return { cookie: await service.openSession(id) };
}
