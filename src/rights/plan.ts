/** Compares the rights in force with those that files want: the steps from one to the other. */
import { createHash } from 'node:crypto';
import { canonicalText } from './rule-document.ts';
import { pathOfGrant, singleGrants, type ProfileDocument, type RightsDocuments, type RoleDocument, type SingleGrant } from './documents.ts';
import { effectsOfGrant, type GrantEffect } from './grant-effects.ts';
import { rolesThatUse } from './used-variables.ts';
import type { AttributeOwner } from './vocabulary.ts';

/** One document that a plan makes, changes or deletes: `roles/clerk`, `profiles/sales`, `attributes/user/regions`. */
export interface RightsStep {
  kind: 'create' | 'change' | 'delete';
  path: string;
}

/** The changes for the people and keys that have a profile in force. */
export interface ProfileEffects {
  profile: string;
  effects: readonly GrantEffect[];
}

/** Documents by their paths. */
type DocumentMap = ReadonlyMap<string, RoleDocument | ProfileDocument | { schema: unknown }>;

const owners: readonly AttributeOwner[] = ['user', 'profile'];

function documentsByPath({ attributes, roles, profiles }: RightsDocuments): DocumentMap {
  return new Map<string, RoleDocument | ProfileDocument | { schema: unknown }>([
    ...owners.flatMap((owner) => [...attributes[owner]].map(([name, schema]) => [`attributes/${owner}/${name}`, { schema }] as const)),
    ...[...roles].map(([name, role]) => [`roles/${name}`, role] as const),
    ...[...profiles].map(([name, profile]) => [`profiles/${name}`, profile] as const),
  ]);
}

/** The rights behind a change: those of the files, and without `prune` also what has no file. */
export function rightsBehind(inForce: RightsDocuments, files: RightsDocuments, { prune = false }: { prune?: boolean }): RightsDocuments {
  const both = <T>(present: ReadonlyMap<string, T>, wanted: ReadonlyMap<string, T>) => new Map([...(prune ? [] : present), ...wanted]);
  return {
    attributes: {
      user: both(inForce.attributes.user, files.attributes.user),
      profile: both(inForce.attributes.profile, files.attributes.profile),
    },
    roles: both(inForce.roles, files.roles),
    profiles: both(inForce.profiles, files.profiles),
  };
}

/** The steps, those of attributes first, then those of roles and profiles, each by name. */
export function stepsBetween(before: RightsDocuments, after: RightsDocuments): RightsStep[] {
  const [present, wanted] = [documentsByPath(before), documentsByPath(after)];
  const paths = [...new Set([...present.keys(), ...wanted.keys()])];
  const order = ['attributes', 'roles', 'profiles'];
  const placeOf = (path: string) => order.findIndex((folder) => path.startsWith(`${folder}/`));
  const steps = paths.flatMap((path): RightsStep[] => {
    const [old, next] = [present.get(path), wanted.get(path)];
    if (!old) return [{ kind: 'create', path }];
    if (!next) return [{ kind: 'delete', path }];
    return comparable(old) === comparable(next) ? [] : [{ kind: 'change', path }];
  });
  return steps.toSorted((one, other) => placeOf(one.path) - placeOf(other.path) || (one.path < other.path ? -1 : 1));
}

/** The paths of what has no file. */
export function pathsWithoutFile(inForce: RightsDocuments, files: RightsDocuments): string[] {
  const wanted = documentsByPath(files);
  return [...documentsByPath(inForce).keys()].filter((path) => !wanted.has(path));
}

/** A text that documents with the same meaning share: the order of grants, actions and roles says nothing. */
function comparable(document: RoleDocument | ProfileDocument | { schema: unknown }): string {
  if ('grants' in document) {
    const grants = singleGrants(document).map(({ entity, action, name = null, condition }) => [entity, action, name, condition].join(' '));
    return JSON.stringify([document.description, grants.toSorted()]);
  }
  return canonicalText('label' in document ? { ...document, roles: document.roles.toSorted() } : document);
}

const none: ReadonlySet<string> = new Set();

/** The grants of a profile by their paths: `roles/clerk/order/region/read`. */
function grantsOfProfile({ roles, profiles }: RightsDocuments, profile: string): Map<string, SingleGrant> {
  const names = profiles.get(profile)?.roles ?? [];
  return new Map(
    names.flatMap((name) => {
      const role = roles.get(name);
      return role ? singleGrants(role).map((grant) => [`roles/${name}/${pathOfGrant(grant)}`, grant] as const) : [];
    }),
  );
}

/** The changes for each profile that is in force. A new profile has none, since no user has it. `sensitive` has the fields that types call so, by the names of the types. */
export function effectsOnProfiles(
  before: RightsDocuments,
  after: RightsDocuments,
  sensitive: ReadonlyMap<string, ReadonlySet<string>>,
): ProfileEffects[] {
  return [...before.profiles.keys()].toSorted().flatMap((profile) => {
    const [old, next] = [grantsOfProfile(before, profile), grantsOfProfile(after, profile)];
    const both = { before: [...old.values()], after: [...next.values()] };
    const paths = [...new Set([...old.keys(), ...next.keys()])].toSorted();
    const effects = [
      ...paths.flatMap((path) => {
        const changed = { path, before: old.get(path), after: next.get(path) };
        const { entity = '*' } = changed.after ?? changed.before ?? {};
        return effectsOfGrant(changed, both, sensitive.get(entity) ?? none);
      }),
      ...effectsOfAttributes(profile, before, after),
    ];
    return effects.length > 0 ? [{ profile, effects }] : [];
  });
}

/** Rules that name an attribute of the profile may cover more with another value. */
function effectsOfAttributes(profile: string, before: RightsDocuments, after: RightsDocuments): GrantEffect[] {
  const { roles = [], attributes: next = {} } = after.profiles.get(profile) ?? {};
  const { attributes: old = {} } = before.profiles.get(profile) ?? {};
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter(
    (name) => canonicalText([old[name]]) !== canonicalText([next[name]]),
  );
  return names.toSorted().map((name): GrantEffect => {
    const isUsed = rolesThatUse(`profile.${name}`, after, roles).length > 0;
    const text = next[name] === undefined ? 'has no value any more' : 'has another value';
    return {
      path: `profiles/${profile}/${name}`,
      effect: isUsed ? (next[name] === undefined ? 'narrow' : 'widen') : 'none',
      kind: 'attribute',
      text,
    };
  });
}

/** The names and actions that a profile grants, such as `order read`. */
export function rightsOfProfile(rights: RightsDocuments, profile: string): ReadonlySet<string> {
  return new Set([...grantsOfProfile(rights, profile).values()].map(({ entity, action }) => `${entity} ${action}`));
}

/** The facts in the digest of a plan. People and rows are not in it, because they change all the time. */
export interface PlanFacts {
  before: RightsDocuments;
  after: RightsDocuments;
  /** The revisions of the types by name. */
  revisions: ReadonlyMap<string, string>;
  steps: readonly RightsStep[];
}

export function digestOfPlan({ before, after, revisions, steps }: PlanFacts): string {
  const textOf = (rights: RightsDocuments) =>
    [...documentsByPath(rights)].map(([path, document]) => `${path} ${comparable(document)}`).toSorted();
  const facts = [textOf(before), textOf(after), Object.fromEntries(revisions), steps];
  return createHash('sha256').update(canonicalText(facts)).digest('hex');
}
