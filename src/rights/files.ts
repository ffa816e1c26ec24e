/** Reads the values of files of rights, with all faults by their pointers: a role, a profile, or the declarations of attributes. */
import { canonicalLocale } from '../locales/negotiate.ts';
import { entityName, readAttributeType } from './attribute-types.ts';
import { conditionOf, ruleOf, singleGrants } from './documents.ts';
import type { GrantDocument, ProfileDocument, RightsDocuments, RoleDocument } from './documents.ts';
import { FileFaults, isObject, type FilePath, type DocumentRead } from './file-faults.ts';
import { isAttributeName, isRoleOrProfileName } from './names.ts';
import { readRuleDocument, ruleMembers } from './rule-document.ts';
import { allActions, type Action, type AttributeOwner } from './vocabulary.ts';

const isAction = (text: unknown): text is Action => allActions.some((action) => action === text);

/** The role of a file. Its rules are not bound to types yet. */
export function readRole(value: unknown): DocumentRead<RoleDocument> {
  const faults = new FileFaults(value);
  const role = faults.object(value, [], ['grants'], ['description']) ?? {};
  const grants = faults.items(role['grants'], ['grants']).map((grant, index) => readGrant(faults, grant, ['grants', index]));
  refuseTwins(faults, grants);
  const description = faults.shownText(role['description'], ['description']);
  return faults.result({ description, grants: grants.flatMap((grant) => grant ?? []) });
}

/** Undefined for a grant with a fault. */
function readGrant(faults: FileFaults, value: unknown, path: FilePath): GrantDocument | undefined {
  const members = faults.object(value, path, ['entity', 'actions'], ['name', ...ruleMembers]);
  if (!members) return undefined;
  const { entity, name } = members;
  const actions = faults.texts(members['actions'], [...path, 'actions'], isAction, allActions).filter(isAction);
  const isEntity = typeof entity === 'string' && (entity === '*' || entityName.test(entity));
  if (entity !== undefined && !isEntity) faults.refuse([...path, 'entity'], { code: 'invalid-value' });
  const isName = name === undefined || (typeof name === 'string' && isRoleOrProfileName(name));
  if (!isName) faults.refuse([...path, 'name'], { code: 'invalid-value' });
  if (!isEntity || !isName || actions.length === 0) return undefined;
  const grant = { ...members, entity, actions: allActions.filter((action) => actions.includes(action)) } as GrantDocument;
  const rule = ruleOf(grant);
  if (rule === undefined && name === undefined) return grant;
  const read = readRuleDocument(rule ?? {}, grant);
  if ('faults' in read) faults.add(path, read.faults);
  else if (name === undefined && conditionOf(grant) !== 'own') faults.refuse([...path, 'name'], { code: 'required' });
  else return grant;
  return undefined;
}

/** Two grants of an action on a name have neither one name nor one rule, and one of them at most has no name. */
function refuseTwins(faults: FileFaults, grants: readonly (GrantDocument | undefined)[]): void {
  const [names, rules] = [new Map<string, number>(), new Set<string>()];
  grants.forEach((grant, index) => {
    if (!grant) return;
    for (const { entity, action, name, condition } of singleGrants({ description: '', grants: [grant] })) {
      const id = JSON.stringify(name === undefined ? [entity, null, action] : [entity, name]);
      const rule = JSON.stringify([entity, action, condition]);
      const isTaken = (names.get(id) ?? index) !== index;
      if (isTaken || (name !== undefined && rules.has(rule))) {
        faults.refuse(['grants', index, ...(name !== undefined && isTaken ? ['name'] : [])], { code: 'repeated' });
        return;
      }
      names.set(id, index);
      if (name !== undefined) rules.add(rule);
    }
  });
}

/** The profile of a file. Its roles and attributes may not exist. */
export function readProfile(value: unknown): DocumentRead<ProfileDocument> {
  const faults = new FileFaults(value);
  const profile = faults.object(value, [], ['label', 'roles'], ['locale', 'attributes']) ?? {};
  const { locale = null, attributes = {} } = profile;
  const tag = typeof locale === 'string' ? canonicalLocale(locale) : undefined;
  if (locale !== null && tag === undefined) faults.refuse(['locale'], { code: 'invalid-value' });
  if (profile['label'] === '') faults.refuse(['label'], { code: 'too-short', values: { minimum: 1 } });
  if (!isObject(attributes)) faults.refuse(['attributes'], { code: 'invalid-type', values: { allowed: 'object' } });
  else
    for (const [name, set] of Object.entries(attributes)) if (set === null) faults.refuse(['attributes', name], { code: 'invalid-value' });
  return faults.result({
    label: faults.shownText(profile['label'], ['label']),
    locale: tag ?? null,
    roles: faults.texts(profile['roles'], ['roles'], isRoleOrProfileName).toSorted(),
    attributes: isObject(attributes) ? attributes : {},
  });
}

const owners = ['user', 'profile'] as const satisfies readonly AttributeOwner[];

/** The declarations of the file of attributes. */
export function readAttributes(value: unknown): DocumentRead<RightsDocuments['attributes']> {
  const faults = new FileFaults(value);
  const members = faults.object(value, [], [], owners) ?? {};
  const ofOwner = (owner: AttributeOwner) => {
    const { [owner]: declared = {} } = members;
    if (!isObject(declared)) faults.refuse([owner], { code: 'invalid-type', values: { allowed: 'object' } });
    const entries = Object.entries(isObject(declared) ? declared : {});
    for (const [name, schema] of entries) {
      const type = readAttributeType(schema);
      if (!isAttributeName(name)) faults.refuse([owner, name], { code: 'invalid-value' });
      else if (!('scalar' in type)) faults.add([owner, name], type);
    }
    return new Map(entries);
  };
  return faults.result({ user: ofOwner('user'), profile: ofOwner('profile') });
}
