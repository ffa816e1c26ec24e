/** `rights plan` and `rights apply`: from files to the rights in force. */
import type { Command } from 'commander';
import { RefusedRights } from '../administration/rights/check.ts';
import { needsConfirmation, type RightsPlanRequest, type RightsPlan } from '../administration/rights/plan.ts';
import { problemsOf, readRightsDirectory, type RightsFiles } from '../administration/rights/read-directory.ts';
import { planFiles, type FilesPlan } from '../administration/rights/plan-files.ts';
import { applyRights } from '../administration/rights/use-cases.ts';
import { ConfigError } from '../config/settings.ts';
import { digestText } from './arguments.ts';
import { addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, tableText, type CommandOutcome } from './output.ts';
import { claimsOf } from './rights-claims.ts';
import { describeFailure, runCases } from './rights-test.ts';

interface RightsPlanOptions {
  prune?: true;
  allowSlow?: true;
}

interface RightsCountOptions extends RightsPlanOptions {
  count: boolean;
}

/** The longest time to count rows, in milliseconds. */
const countMs = 30_000;

interface RightsApplyOptions extends RightsPlanOptions {
  confirm?: string;
  cases?: true;
}

const directoryArgument = ['<directory>', 'the directory with roles/, profiles/ and attributes.yaml'] as const;
const pruneOption = ['--prune', 'delete roles, profiles and attributes without a file'] as const;
const slowOption = ['--allow-slow', 'also rules that no index serves and that cover less than 1 % of many entities'] as const;

export function planCommand(rights: Command, desk: Desk): void {
  addCommand(rights, 'plan', 'tell what applying files would do; exit code 0: nothing, 3: changes, 4: they need a confirmation', [
    'rights plan rights/',
    'rights plan rights/ --prune --json',
  ])
    .argument(...directoryArgument)
    .option(...pruneOption)
    .option(...slowOption)
    .option('--no-count', 'do not count the rows that people gain and lose; counting takes up to 30 s')
    .action((directory: string, options: Shown & RightsCountOptions) =>
      onDatabase(desk, options, (admin) => plan(admin, directory, options)),
    );
}

export function applyCommand(rights: Command, desk: Desk): void {
  addCommand(rights, 'apply', 'put the rights of files in force, all or none', [
    'rights apply rights/',
    'rights apply rights/ --prune --confirm 9f86d0…',
  ])
    .argument(...directoryArgument)
    .option(...pruneOption)
    .option(...slowOption)
    .option('--confirm <digest>', 'the digest that the plan prints; needed where rights widen or are locked', digestText)
    .option('--cases', 'run the cases of the files first, in a scratch database; with a case that fails nothing changes')
    .action((directory: string, options: Shown & RightsApplyOptions) =>
      onDatabase(desk, options, (admin) => apply(admin, directory, options)),
    );
}

async function plan(admin: Admin, directory: string, options: RightsCountOptions): Promise<CommandOutcome> {
  const files = await readRightsDirectory(directory, 'rights');
  const request = { ...(await planOptions(admin, files, options)), countMs: options.count ? countMs : 0 };
  const planned = await planFiles(admin.store, request).catch(throwFaults(files));
  return { ...report(planned, planned), exitCode: planned.steps.length === 0 ? 0 : needsConfirmation(planned) ? 4 : 3 };
}

async function apply(admin: Admin, directory: string, options: RightsApplyOptions): Promise<CommandOutcome> {
  const { store, by } = admin;
  const { confirm } = options;
  const files = await readRightsDirectory(directory, 'rights');
  const failed = options.cases ? (await runCases(admin, files)).filter(({ failure }) => failure !== null) : [];
  if (failed.length > 0)
    return {
      document: { cases: failed, changed: false },
      text: failed.map(describeFailure).join('\n'),
      failure: 'nothing was applied, since a case fails',
    };
  const { plan: planned, isApplied } = await applyRights(store, by, { ...(await planOptions(admin, files, options)), confirm }).catch(
    throwFaults(files),
  );
  const reported = report(planned);
  if (!isApplied && planned.steps.length > 0) {
    const reason = confirm === undefined ? 'this widens rights, or locks some' : 'another plan was confirmed';
    return { ...reported, failure: `${reason}: give --confirm ${planned.digest}` };
  }
  const text = isApplied ? `Applied: ${planned.steps.map(({ path }) => printableText(path)).join(', ')}.` : reported.text;
  return { document: { ...planned, changed: isApplied }, text };
}

async function planOptions(
  admin: Admin,
  files: RightsFiles,
  { prune, allowSlow }: RightsPlanOptions,
): Promise<RightsPlanRequest & { allowSlow: boolean }> {
  return { files, prune: prune === true, allowSlow: allowSlow === true, claims: await claimsOf(admin) };
}

const throwFaults =
  (files: RightsFiles) =>
  (error: unknown): never => {
    throw error instanceof RefusedRights ? new ConfigError(problemsOf(error, files, 'rights')) : error;
  };

/** `counts` has the rows; undefined where none are told. */
function report(plan: RightsPlan, counts?: FilesPlan): CommandOutcome {
  if (plan.steps.length === 0) return { document: plan, text: 'Nothing to do: the rights are in force as the files have them.' };
  const steps = tableText(
    ['DOCUMENT', 'STEP'],
    plan.steps.map(({ path, kind }) => [path, kind]),
    '',
  );
  const effect = `effect: ${plan.effect}${needsConfirmation(plan) ? `, needs --confirm ${plan.digest}` : ''}`;
  const end = counts ? `${describeCounted(counts)}\n${effect}` : effect;
  const profiles = plan.profiles.map((each) => [describeProfile(each), ...describeRows(each.profile, counts)].join('\n'));
  return { document: plan, text: [steps, ...profiles, ...linesOf(plan), end].join('\n\n') };
}

const describeCounted = ({ counted, uncounted }: FilesPlan): string =>
  `counted: ${counted}${uncounted.length > 0 ? `, without ${uncounted.map(printableText).join(', ')}` : ''}`;

/** The rows of the people of the profile, as a table; none if nothing was counted. */
function describeRows(profile: string, counts: FilesPlan | undefined): string[] {
  const counted = counts?.rows.filter((each) => each.profile === profile) ?? [];
  const rows = counted.map(({ entity, action, groups }) => [`  ${printableText(entity)}`, action, describeGroups(groups)]);
  return rows.length > 0 ? [tableText(['  ROWS OF', 'ACTION', 'CHANGE'], rows, '')] : [];
}

/** Groups that a line names one by one. */
const namedGroups = 3;

function describeGroups(groups: FilesPlan['rows'][number]['groups']): string {
  if (groups.length <= namedGroups) return groups.map((each) => `${people(each.people)}: ${changeOf(each)}`).join(', ');
  const sum = (member: 'people' | 'gained' | 'lost') => groups.reduce((total, each) => total + each[member], 0);
  const least = (member: 'gained' | 'lost') => Math.min(...groups.map((each) => each[member]));
  const most = (member: 'gained' | 'lost') => Math.max(...groups.map((each) => each[member]));
  const range = (sign: string, member: 'gained' | 'lost') =>
    most(member) > 0 ? [`${sign}${least(member)} to ${sign}${most(member)} each`] : [];
  return `${people(sum('people'))}: ${[...range('+', 'gained'), ...range('-', 'lost')].join(', ')}`;
}

const people = (number: number): string => count(number, 'person', 'people');

function changeOf({ gained, lost }: FilesPlan['rows'][number]['groups'][number]): string {
  const parts = [...(gained > 0 ? [`+${gained}`] : []), ...(lost > 0 ? [`-${lost}`] : [])];
  return parts.length > 0 ? parts.join(' ') : 'none';
}

function describeProfile({ profile, people: holders, keys, effects }: RightsPlan['profiles'][number]): string {
  const rows = effects.map(({ effect, kind, path, text }) => [`  ${effect}`, kind, path, text]);
  return `${printableText(profile)}: ${people(holders)}, ${count(keys, 'key', 'keys')}\n${tableText(['  EFFECT', 'KIND', 'GRANT', 'CHANGE'], rows, '')}`;
}

/** The effects that concern no single profile. */
function linesOf({ attributes, locks, warnings }: RightsPlan): string[] {
  const declared = attributes.flatMap(({ path, effect, unfit }) => {
    const missing = unfit > 0 ? `: ${count(unfit, 'value is', 'values are')} not of the new type, and count as missing` : '';
    return effect === 'none' && unfit === 0 ? [] : [`${effect}  ${path}${missing}`];
  });
  const locked = locks.map((lock) =>
    'key' in lock
      ? `lock  the key ${lock.key} of ${lock.user} loses all its rights`
      : `lock  no user is left who may ${lock.action} ${lock.entity}`,
  );
  const warned = warnings.map((warning) =>
    'lacks' in warning
      ? `warning  the profile ${warning.profile} ${warning.lacks}`
      : `warning  ${warning.path} reads ${warning.reads}, which people with the profile ${warning.profile} may create without a check`,
  );
  const lines = [...declared, ...locked, ...warned].map(printableText);
  return lines.length > 0 ? [lines.join('\n')] : [];
}

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;
