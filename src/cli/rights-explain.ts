/** `rights explain`: what a user may do, and why. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { AttributeRegistry } from '../accounts/attribute-registry.ts';
import type { AllowingRole } from '../administration/permissions/allowing.ts';
import { explainRights, type ExplainedRights, type RightsQuestion } from '../administration/permissions/use-cases.ts';
import { entityLimitOf } from '../entities/entity-limits.ts';
import type { SentFields } from '../entities/writing/natural-keys.ts';
import { TypeRegistry } from '../entity-types/registry.ts';
import { isInt64 } from '../json/int64.ts';
import { jsonLimits, readJson } from '../json/json.ts';
import { describeFault } from '../locales/describe.ts';
import { readIssuers } from '../oidc/issuers-file/read.ts';
import { claimTypes } from '../oidc/provisioning/claimed-rights.ts';
import type { ExplainedGrant } from '../permissions/explained-grants.ts';
import type { PermissionExplanation } from '../permissions/explain.ts';
import { Problem } from '../problems/errors.ts';
import { allActions, type Action } from '../rights/vocabulary.ts';
import { roleOrProfileName, typeName, userName } from './arguments.ts';
import { addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, Refusal, tableText, type CommandOutcome } from './output.ts';

interface ExplainOptions extends Shown {
  entity: string;
  key?: string;
  action?: Action;
  set?: SentFields;
  profile?: string;
  credential?: string;
  allowedBy?: true;
}

export function explainCommand(rights: Command, desk: Desk): void {
  addCommand(rights, 'explain', 'explain how a request of a user would be answered', [
    'rights explain ada --entity order',
    `rights explain ada --entity order --key 7 --action update --set '{"state":"approved"}' --allowed-by`,
  ])
    .argument('<user>', 'the name of the user', userName)
    .requiredOption('--entity <name>', 'the name of the entities', typeName)
    .option('--key <key>', 'the key of one of them', entityKey)
    .addOption(new Option('--action <action>', 'what the request does (default: each action)').choices(allActions))
    .option('--set <json>', 'the fields of the create, or the patch of the update', jsonObject)
    .option('--profile <name>', 'the profile of the session (default: the one that a session begins with)', roleOrProfileName)
    .option('--credential <id>', 'an API key of the user (default: a session)')
    .option('--allowed-by', 'also which roles allow it, with their profiles and users')
    .action((user: string, options: ExplainOptions) => onDatabase(desk, options, (admin) => explainRequest(admin, user, options)));
}

async function explainRequest({ desk, store, by, config }: Admin, user: string, options: ExplainOptions): Promise<CommandOutcome> {
  const { entity, key, action, set, profile, credential, allowedBy = false } = options;
  if (profile !== undefined && credential !== undefined) throw new Refusal('a key has its own profile: give --profile or --credential', 2);
  if (allowedBy && action === undefined) throw new Refusal('--allowed-by is about one action: give --action too', 2);
  const attributes = new AttributeRegistry(store.db, claimTypes(await readIssuers(config.issuersFile, desk.environment())));
  const sources = { types: new TypeRegistry(store.db, config), attributes, limitBytes: entityLimitOf(config) };
  const question: RightsQuestion = { entity, key, action, set, holder: { user, profile, key: credential }, listsAllowing: allowedBy };
  const found = await explainRights(store, by, question, sources).catch((error: unknown) => {
    throw error instanceof Problem ? explanationRefusal(error, question) : error;
  });
  const [only] = found.explanations;
  const text = action === undefined || !only ? tableOf(found.explanations) : textOf(only, found.allowedBy);
  return { document: { user, ...documentOf(found, action) }, text };
}

function documentOf({ explanations, allowedBy }: ExplainedRights, action: Action | undefined): object {
  const [only] = explanations;
  if (action === undefined) return { profile: only?.profile ?? null, actions: explanations };
  return { ...only, ...(allowedBy && { allowedBy }) };
}

/** A sentence for what the question lacks; a problem of another kind as it is. */
function explanationRefusal(problem: Problem, { holder, action }: RightsQuestion): Error {
  const { user, profile, key } = holder;
  const [{ code, pointer = '' } = { code: '', pointer: '' }] = problem.faults;
  if (code === 'absent' && pointer === '/profile') return new Refusal(`"${printableText(user)}" has no profile called "${profile}"`);
  if (code === 'absent' && pointer === '/key') return new Refusal(`"${printableText(user)}" has no live API key with the id ${key}`);
  if (code === 'required') return new Refusal(`give --${pointer.slice(1)} too`, 2);
  if (code === 'conflicting') return new Refusal(`the action "${action}" takes no --${pointer.slice(1)}`, 2);
  return problem;
}

const outcomeOf = ({ status, code }: PermissionExplanation) => (code === undefined ? `allowed (${status})` : `refused (${status} ${code})`);

function tableOf(explanations: readonly PermissionExplanation[]): string {
  const lines = explanations.map((each) => {
    const names = each.grants.map(({ role, grant }) => `${role}/${grant}`);
    return [each.action, outcomeOf(each), names.join(', ') || '-', each.rows ? JSON.stringify(each.rows) : '-'];
  });
  return tableText(['ACTION', 'OUTCOME', 'GRANTS', 'ROWS'], lines, '');
}

function textOf(explanation: PermissionExplanation, allowedBy: readonly AllowingRole[] | undefined): string {
  const { action, profile, faults, grants, rows, fields, limits } = explanation;
  const list = (names: readonly string[]) => names.map((name) => printableText(name)).join(', ') || '-';
  return [
    `${action}: ${outcomeOf(explanation)}, profile ${profile ?? '-'}`,
    ...faults.map(({ pointer, code }) => `  ${printableText(pointer) || 'the entity'}: ${code}`),
    tableText(['ROLE', 'GRANT', 'COVERS', 'CHECK', 'FAILED', 'WRITE'], grants.map(grantLine), 'No role grants it.'),
    ...(rows ? [`rows: ${printableText(JSON.stringify(rows))}`] : []),
    ...(fields ? [`readable: ${list(fields.readable)}`, `writable: ${list(fields.writable)}`] : []),
    ...(limits.length > 0 ? [`limits: ${limits.join(', ')}`] : []),
    ...(allowedBy ? [tableText(['ALLOWED BY', 'PROFILES', 'USERS'], allowedBy.map(allowingLine), 'No role of a user allows it.')] : []),
  ].join('\n');
}

function grantLine({ role, grant, covers, check, failed, write = [] }: ExplainedGrant): string[] {
  const said = (finding: boolean | undefined) => (finding === undefined ? '-' : finding ? 'yes' : 'no');
  return [role, grant, said(covers), said(check), failed.join(', ') || '-', write.join(',') || '-'];
}

const allowingLine = ({ role, profiles, users, more }: AllowingRole): string[] => [
  role,
  profiles.join(', '),
  `${users.join(', ')}${more ? ', …' : ''}`,
];

function entityKey(text: string): string {
  if (isInt64(text)) return text;
  throw new InvalidArgumentError('A key is a whole number of at most 64 bits.');
}

function jsonObject(text: string): SentFields {
  const read = readJson(Buffer.from(text), jsonLimits);
  if ('code' in read) throw new InvalidArgumentError(describeFault('en', read).detail);
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    throw new InvalidArgumentError('Give a JSON object.');
  return { fields: read.value, text };
}
