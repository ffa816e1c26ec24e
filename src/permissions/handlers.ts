/** Permissions over HTTP: what the caller may do. */
import type { Handlers } from '../contract/operation.ts';
import { entityLimitOf } from '../entities/entity-limits.ts';
import type { EntityContext } from '../entities/reading/context.ts';
import { memberTexts } from '../json/json-parts.ts';
import { onSnapshot, questionsOf } from './check.ts';
import { explainPermission, type PermissionExplanation } from './explain.ts';

type PermissionContext = Pick<EntityContext, 'config' | 'store' | 'entityTypes' | 'admission'>;

export function permissionHandlers(context: PermissionContext): Pick<Handlers, 'checkOwnPermission'> {
  const { config, store, entityTypes: types, admission } = context;
  return {
    async checkOwnPermission({ body: { set, ...body }, bodyText, principal, caller }) {
      const text = set && memberTexts(bodyText).get('set');
      const questions = questionsOf({ ...body, set: text === undefined ? undefined : { fields: set, text } });
      const explanations = await admission.run('heavy-read', { flow: principal.user.name, caller }, () =>
        onSnapshot({ store, types, limitBytes: entityLimitOf(config) }, async (view) => {
          const found: PermissionExplanation[] = [];
          for (const question of questions) found.push(await explainPermission(view, principal, question, 'caller'));
          return found;
        }),
      );
      const [only] = explanations;
      const isOne = body.action !== undefined && only !== undefined;
      return { status: 200, body: isOne ? only : { profile: principal.profile?.name ?? null, actions: explanations } };
    },
  };
}
