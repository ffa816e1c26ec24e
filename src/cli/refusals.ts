/** The sentences of the command line for refusals of administration, made from the problem and its values. */
import { liveKeysPerUser } from '../api-keys/store.ts';
import type { WantedKey } from '../api-keys/wanted.ts';
import type { Problem } from '../problems/errors.ts';
import { printableText, Refusal } from './output.ts';

type RefusalValues = Readonly<Record<string, string>>;

/** One sentence for each fault and its leading value. */
const sentences: Readonly<Record<string, (values: RefusalValues) => string>> = {
  'absent user': ({ user }) => `there is no user called "${user}"`,
  'absent role': ({ role }) => `there is no role called "${role}"`,
  'absent profile': ({ profile }) => `there is no profile called "${profile}"`,
  'absent key': ({ key }) => `there is no API key with the id ${key}`,
  'absent attribute': ({ attribute, of }) => `${of}s have no attribute called "${attribute}"`,
  'absent owner': ({ owner, subject, issuer }) =>
    `${owner} is not linked to the subject "${subject}" of ${issuer}; "identity list" shows the links`,
  'taken user': ({ user }) => `there is already a user called "${user}"`,
  'taken role': ({ role }) => `there is already a role called "${role}"`,
  'taken profile': ({ profile }) => `there is already a profile called "${profile}"`,
  'taken subject': ({ subject, issuer }) => `the subject "${subject}" of ${issuer} is linked to another user: unlink it first`,
  'used-by profiles': ({ role, profiles, more }) =>
    `profiles have the role "${role}": ${profiles}${more}; give them other roles first, with "profile update … --roles"`,
  'used-by users': ({ profile, users, more }) =>
    `users have the profile "${profile}": ${users}${more}; take it from them first, with "user profile remove"`,
  'used-by keys': ({ profile, keys, more }) =>
    `API keys are bound to the profile "${profile}": ${keys}${more}; end them first, with "key revoke"`,
  'used-by defaultOf': ({ profile, defaultOf }) =>
    `"${profile}" is the default profile of "${defaultOf}", who has others: make one of those the default first, with "user profile add … --default"`,
  'used-by rules': ({ role, rules }) =>
    `the role "${role}" grants this by rules too: ${rules}; name one with --name, or take the rest alone with --plain`,
  'taken rule': ({ rule }) =>
    `the role has a rule called "${rule}" already, with another rule, other actions or another name: revoke it first, or grant all of its actions`,
  'too-many-tests rules': ({ role, profile, rules, limit }) =>
    `${role === undefined ? `the profile "${profile}"` : `the role "${role}"`} would have more than ${limit} rules for ${rules}`,
  'disabled user': ({ user }) => `the user "${user}" is disabled, so the key would not work`,
};

/** The sentence of the problem's first fault; undefined for a problem without a sentence of its own. */
export function refusalText({ faults: [fault] }: Problem): string | undefined {
  if (!fault) return undefined;
  const values = Object.entries(fault.values ?? {}).map(
    ([name, value]) => [name, name === 'more' ? ` and ${value} more` : printableText(String(value))] as const,
  );
  const sentence = values.map(([name]) => sentences[`${fault.code} ${name}`]).find((each) => each !== undefined);
  return sentence?.({ more: '', ...Object.fromEntries(values) });
}

/** The refusal of a new key, made from the problem and from what was wanted; a problem of another kind as it is. */
export function keyRefusal(problem: Problem, owner: string, { profile, scopes = [] }: Pick<WantedKey, 'profile' | 'scopes'>): Error {
  const user = printableText(owner);
  if (problem.code === 'conflict' && problem.faults.length === 0)
    return new Refusal(`"${user}" has ${liveKeysPerUser} live API keys, and more are not allowed: revoke one first`);
  if (problem.faults.some(({ pointer }) => pointer === '/profile')) return new Refusal(`"${user}" has no profile called "${profile}"`);
  const missing = problem.faults.flatMap(({ pointer = '' }) => {
    const [, index, position] = /^\/scopes\/(\d+)\/actions\/(\d+)$/.exec(pointer) ?? [];
    const { entity, actions } = scopes[Number(index)] ?? {};
    return entity === undefined ? [] : [`${entity}:${actions?.[Number(position)]}`];
  });
  if (missing.length === 0) return problem;
  const holder = profile === undefined ? `the default profile of "${user}"` : `the profile "${profile}"`;
  return new Refusal(`${holder} does not grant ${missing.join(', ')}, so the key could not do it either: grant it first, or leave it out`);
}
