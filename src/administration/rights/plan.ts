/** Plans the change from the rights in force to those of files, with its effects on grants and people. */
import type { Kysely } from 'kysely';
import { listValues } from '../../accounts/attributes.ts';
import { TypeRegistry } from '../../entity-types/registry.ts';
import { listTypes } from '../../entity-types/store.ts';
import type { Database } from '../../database/tables.ts';
import { faultsOfValue, readAttributeType, type DeclaredTypes } from '../../rights/attribute-types.ts';
import type { RightsDocuments } from '../../rights/documents.ts';
import { digestOfPlan, effectsOnProfiles, rightsBehind, stepsBetween, type RightsStep } from '../../rights/plan.ts';
import { strongestEffect, type Effect, type GrantEffect } from '../../rights/grant-effects.ts';
import { rolesThatUse } from '../../rights/used-variables.ts';
import type { AttributeOwner } from '../../rights/vocabulary.ts';
import { assertRights } from './check.ts';
import { locksOf, readHolders, type Lock } from './holders.ts';
import { readRightsInForce } from './in-force.ts';
import { readTypes } from './scope.ts';
import { listReferences } from './unread.ts';
import { warningsOf, type RightsWarning } from './warnings.ts';

/** The effects on the holders of a profile. */
interface ProfilePlan {
  profile: string;
  people: number;
  keys: number;
  effects: readonly GrantEffect[];
}

interface AttributePlan {
  path: string;
  effect: Effect;
  /** Users or profiles whose value is not of the new type, and counts as missing. */
  unfit: number;
}

export interface RightsPlan {
  /** SHA-256 of both sets of documents, the revisions of the types and the steps. */
  digest: string;
  /** The strongest one of all. `widen` and `lock` need a confirmation. */
  effect: Effect;
  steps: readonly RightsStep[];
  attributes: readonly AttributePlan[];
  profiles: readonly ProfilePlan[];
  locks: readonly Lock[];
  warnings: readonly RightsWarning[];
}

export interface RightsPlanRequest {
  files: RightsDocuments;
  /** The types of claims, whatever the issuer. */
  claims: DeclaredTypes;
  /** Removes also what has no file. */
  prune: boolean;
}

/** A plan with the documents that it compares. */
export interface PlannedRights {
  plan: RightsPlan;
  before: RightsDocuments;
  after: RightsDocuments;
}

/** Throws `RefusedRights` for rights that cannot be put in force. */
export async function planRights(db: Kysely<Database>, { files, claims, prune }: RightsPlanRequest): Promise<PlannedRights> {
  const before = await readRightsInForce(db);
  const after = rightsBehind(before, files, { prune });
  const types = await readTypes(db, files);
  const holders = await readHolders(db);
  assertRights({ before, after, files, types, claims, holders });
  const steps = stepsBetween(before, after);
  const sensitive = await new TypeRegistry(db, { entityTypes: 'open' }).sensitiveFields();
  const profiles = effectsOnProfiles(before, after, sensitive).map(({ profile, effects }) => {
    const { people = 0, keys = [] } = holders.get(profile) ?? {};
    return { profile, people, keys: keys.length, effects };
  });
  const attributes = await effectsOfAttributes(db, steps, { before, after });
  const locks = locksOf(before, after, holders);
  const effects = [...profiles.flatMap((each) => each.effects), ...attributes].map(({ effect }) => effect);
  const revisions = new Map((await listTypes(db)).map(({ name, revision }) => [name, revision]));
  const plan = {
    digest: digestOfPlan({ before, after, revisions, steps }),
    effect: locks.length > 0 ? ('lock' as const) : strongestEffect(effects),
    steps,
    attributes,
    profiles,
    locks,
    warnings: warningsOf({ after, steps, types, claims, references: await listReferences(db) }),
  };
  return { plan, before, after };
}

/** Whether the plan needs its digest as a confirmation. */
export const needsConfirmation = ({ effect }: RightsPlan): boolean => effect === 'widen' || effect === 'lock';

/** A rule that names the attribute may cover more, whatever its text: with the new type other people have a value. */
async function effectsOfAttributes(
  db: Kysely<Database>,
  steps: readonly RightsStep[],
  { before, after }: Pick<PlannedRights, 'before' | 'after'>,
): Promise<AttributePlan[]> {
  const plans: AttributePlan[] = [];
  for (const { kind, path } of steps) {
    const [folder, owner, name = ''] = path.split('/') as [string, AttributeOwner, string?];
    if (folder !== 'attributes') continue;
    const isUsed = rolesThatUse(`${owner}.${name}`, kind === 'create' ? before : after).length > 0;
    const type = readAttributeType(after.attributes[owner].get(name));
    const values = kind === 'change' ? await listValues(db, owner, name) : [];
    const unfit = 'scalar' in type ? values.filter((value) => faultsOfValue(type, value).length > 0).length : 0;
    plans.push({ path, effect: isUsed ? 'widen' : 'none', unfit });
  }
  return plans;
}
