/** Rules of files by which lists would be mostly empty, each with its document and its pointer. */
import { AttributeRegistry } from '../../accounts/attribute-registry.ts';
import type { Store } from '../../database/port.ts';
import { TypeRegistry } from '../../entity-types/registry.ts';
import { companionsForLists } from '../../entity-types/types-for-rules.ts';
import { Problem } from '../../problems/errors.ts';
import { conditionOf, ruleOf, singleGrants, type GrantDocument, type RightsDocuments } from '../../rights/documents.ts';
import { rightsBehind } from '../../rights/plan.ts';
import { bindRule } from '../../rights/rule.ts';
import { assertServed } from '../roles/slow-rules.ts';
import { RefusedRights, type DocumentFault } from './check.ts';
import { readRightsInForce } from './in-force.ts';
import type { RightsPlanRequest } from './plan.ts';
import { readTypes, scopeOf, variableTypes } from './scope.ts';

export interface SlowRules {
  /** Takes also rules by which lists are mostly empty, since no index serves them. Otherwise they are faults with `needs-index` (decision 335). */
  allowSlow?: boolean;
}

interface ChangedList {
  role: string;
  index: number;
  grant: GrantDocument;
}

/**
 * Throws {@link RefusedRights} with `needs-index` for each grant of `read` or `label` that is new or has another rule, if {@link assertServed} refuses the rule. Grants in
 * force stay as they are, since an administrator has accepted them. Rules that do not fit their types are not judged here.
 */
export async function assertServedGrants(store: Store, { files, claims }: Pick<RightsPlanRequest, 'files' | 'claims'>): Promise<void> {
  const inForce = await readRightsInForce(store.db);
  const listed = changedLists(inForce, files);
  if (listed.length === 0) return;
  const types = await readTypes(store.db, files);
  const variables = variableTypes(rightsBehind(inForce, files, {}), claims);
  const companionOf = companionsForLists(new TypeRegistry(store.db, { entityTypes: 'open' }));
  const users = await new AttributeRegistry(store.db, new Map()).variablesOfUsers();
  const faults: DocumentFault[] = [];
  for (const { role, index, grant } of listed) {
    const bound = bindRule(ruleOf(grant) ?? {}, 'read', scopeOf(grant, types, variables));
    if (!('grant' in bound)) continue;
    const checked = { entity: grant.entity, filter: bound.grant.filter, companion: await companionOf(grant.entity), users };
    await store
      .runLong((db) => assertServed(db, checked))
      .catch((error: unknown) => {
        if (!(error instanceof Problem) || error.code !== 'validation-failed') throw error;
        faults.push(...error.under(`/grants/${index}`).faults.map((fault) => ({ path: `roles/${role}`, fault })));
      });
  }
  if (faults.length > 0) throw new RefusedRights(faults);
}

/** The grants of files by which entities of one name are listed, and that the database does not have. */
function changedLists({ roles: present }: RightsDocuments, { roles }: RightsDocuments): ChangedList[] {
  return [...roles].flatMap(([role, { grants }]) => {
    const old = present.get(role);
    const inForce = new Set(old ? singleGrants(old).map(textOf) : []);
    const isNew = (grant: GrantDocument) =>
      singleGrants({ description: '', grants: [grant] }).some((each) => isList(each.action) && !inForce.has(textOf(each)));
    return grants.flatMap((grant, index) =>
      grant.entity !== '*' && !['any', 'own'].includes(conditionOf(grant)) && isNew(grant) ? [{ role, index, grant }] : [],
    );
  });
}

const isList = (action: string): boolean => action === 'read' || action === 'label';

const textOf = ({ entity, action, condition }: ReturnType<typeof singleGrants>[number]): string => `${entity} ${action} ${condition}`;
