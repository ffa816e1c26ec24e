/** Explanations of what users may do, for administrators: nothing of a rule or a row is left out. */
import type { AttributeRegistry } from '../../accounts/attribute-registry.ts';
import { RuleBook } from '../../authn/rule-book.ts';
import type { Store } from '../../database/port.ts';
import { typesForRules } from '../../entity-types/types-for-rules.ts';
import type { TypeRegistry } from '../../entity-types/registry.ts';
import { onSnapshot, questionsOf, type WantedQuestion } from '../../permissions/check.ts';
import { explainPermission, type PermissionExplanation } from '../../permissions/explain.ts';
import type { Owner } from '../../rights/administration.ts';
import { listAllowing, type AllowingRole } from './allowing.ts';
import { getHolder, type WantedHolder } from './holders.ts';

/** A question about a user. */
export interface RightsQuestion extends WantedQuestion {
  holder: WantedHolder;
  /** Whether the roles are wanted that allow the action, with their users. It needs an action. */
  listsAllowing: boolean;
}

export interface ExplainedRights {
  explanations: PermissionExplanation[];
  /** Undefined if it is not wanted. */
  allowedBy: AllowingRole[] | undefined;
}

export interface RightsSources {
  types: TypeRegistry;
  attributes: AttributeRegistry;
  /** The most bytes of an entity. */
  limitBytes: number;
}

/**
 * Explains what the user may do. Throws 404 `not-found` as {@link getHolder}, and 422 `validation-failed` for a member of the question that the action does not
 * take, or lacks.
 */
export async function explainRights(
  store: Store,
  _by: Owner,
  { holder, listsAllowing, ...wanted }: RightsQuestion,
  { types, attributes, limitBytes }: RightsSources,
): Promise<ExplainedRights> {
  const questions = questionsOf(wanted);
  const rules = new RuleBook({
    db: store.db,
    typeOf: typesForRules(types),
    sensitiveFields: () => types.sensitiveFields(),
    variables: (principal) => attributes.variablesOf(principal),
    onUnbound: () => undefined,
  });
  const principal = await rules.complete(await getHolder(store, holder));
  return await onSnapshot({ store, types, limitBytes }, async (view) => {
    const explanations: PermissionExplanation[] = [];
    for (const question of questions) explanations.push(await explainPermission(view, principal, question, 'administrator'));
    const [only] = questions;
    const allowedBy = listsAllowing && only ? await listAllowing(view, rules, only) : undefined;
    return { explanations, allowedBy };
  });
}
