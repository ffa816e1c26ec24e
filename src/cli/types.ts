/** `types …`: the entity types, from files to the database and back. */
import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import type { Actor } from '../rights/administration.ts';
import type { Kysely } from 'kysely';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import { applyChange } from '../entity-types/apply.ts';
import { faultsOfContradictions } from '../entity-types/contradictions.ts';
import { faultText, readTypeFiles, refusalText } from '../entity-types/files.ts';
import { findingsOf, unfitEntities, type Findings } from '../entity-types/findings.ts';
import { fieldAccess, fieldChanges, type FieldAccess } from '../entity-types/field-access.ts';
import { needsCheck, needsConfirmation, needsRules, planOf, type TypeChange, type TypePlan } from '../entity-types/plan.ts';
import { inOrder } from '../entity-types/order.ts';
import { faultsOfRequirements } from '../entity-types/requirements.ts';
import { findType, listBuilds, listDocuments, listTypes } from '../entity-types/store.ts';
import { DocumentChecks } from '../entity-types/proof.ts';
import { faultOfStored } from '../entity-types/stored-type.ts';
import { countEntities } from '../entities/companion/scan.ts';
import { digestText, typeName } from './arguments.ts';
import { addGroup, addCommand, onDatabase, printOutcome, type Admin, type Desk, type Shown } from './command.ts';
import { convertFiles, type ConvertOptions } from './convert-schema.ts';
import { TypeProgress } from './progress.ts';
import { rebuildCommand } from './rebuild-types.ts';
import { printableText, Refusal, tableText, timeText, toJson, type CommandOutcome } from './output.ts';

interface PlanOptions {
  prune?: true;
}

interface TypesApplyOptions extends PlanOptions {
  confirm?: string;
  allowUnfit?: true;
  force?: true;
}

export function typeCommands(program: Command, desk: Desk): void {
  const types = addGroup(program, 'types', 'entity types: what the fields of a name must be like', [
    'types plan types/',
    'types apply types/',
  ]);
  const prune = ['--prune', 'delete declared types without a file'] as const;
  addCommand(types, 'plan', 'tell what applying files would do; exit code 0: nothing, 3: changes, 4: a confirmation is needed', [
    'types plan types/',
    'types plan types/ --prune --json',
  ])
    .argument('<path...>', 'files called <name>.json, .yaml or .yml, or directories of them')
    .option(...prune)
    .action((paths: string[], options: Shown & PlanOptions) => onDatabase(desk, options, (admin) => plan(admin, paths, options)));
  addCommand(types, 'apply', 'put the documents of files in force', ['types apply types/', 'types apply types/customer.yaml --allow-unfit'])
    .argument('<path...>', 'files or directories, as for the plan')
    .option(...prune)
    .option('--confirm <digest>', 'the digest that the plan prints; needed for a loss, and for a change of x-sensitive', digestText)
    .option(
      '--force',
      'apply keywords that processes of an older version, which still run, do not know; they show fields that become sensitive',
    )
    .option('--allow-unfit', 'accept stored entities that do not fit: they can be read, and must fit at their next update')
    .action((paths: string[], options: Shown & TypesApplyOptions) => onDatabase(desk, options, (admin) => apply(admin, paths, options)));
  addCommand(types, 'convert', 'make the document of a type from a schema of an older draft or of OpenAPI', [
    'types convert customer.schema.json --out types/customer.json',
    'types convert openapi.yaml --at /components/schemas/Customer --out types/customer.yaml',
  ])
    .argument('<file...>', 'the file, or - for standard input; then the files to which its references lead')
    .option('--at <pointer>', 'the place of the schema in the file (default: the whole file)')
    .option('--out <file>', 'the file to write, which must not exist (default: standard output)')
    .action(async (files: string[], { at, out, ...shown }: Shown & ConvertOptions) =>
      printOutcome(desk, shown, await convertFiles(desk, files, { ...(at !== undefined && { at }), ...(out !== undefined && { out }) })),
    );
  addCommand(types, 'list', 'list the types', ['types list']).action((options: Shown) => onDatabase(desk, options, list));
  addCommand(types, 'status', 'check all entities of declared names against their types, and tell which types are being built', [
    'types status',
    'types status --json',
  ]).action((options: Shown) => onDatabase(desk, options, status));
  rebuildCommand(types, desk);
  addCommand(types, 'export', 'print the document of a type', ['types export customer > types/customer.json'])
    .argument('<name>', 'the name of the entities', typeName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => exportDocument(admin, name)));
  addCommand(types, 'delete', 'delete a type; its entities stay', ['types delete customer', 'types delete customer --confirm 9f86d0…'])
    .argument('<name>', 'the name of the entities', typeName)
    .option('--confirm <digest>', 'the digest that the command prints without it', digestText)
    .action((name: string, options: Shown & Pick<TypesApplyOptions, 'confirm'>) =>
      onDatabase(desk, options, (admin) => remove(admin, name, options)),
    );
}

/** A change with its plan and what the stored entities say to it. */
interface Planned {
  change: TypeChange;
  plan: TypePlan;
  findings: Findings;
  fields: FieldAccess[];
}

/** The changes that do something. Throws {@link Refusal} for documents that `faultsOfContradictions` or `faultsOfRequirements` refuses. */
async function planAll({ store: { db } }: Admin, changes: readonly TypeChange[], rulesOnly = false): Promise<Planned[]> {
  await assertAcceptable(db, changes);
  const planned: Planned[] = [];
  for (const change of changes) {
    const current = await findType(db, change.name);
    const plan = planOf(current, change);
    const changed = change.document === null ? [] : fieldChanges(current?.document, change.document);
    const fields = await fieldAccess(db, change.name, changed);
    planned.push({ change, plan, findings: await findingsOf(db, plan, change, { rulesOnly }), fields });
  }
  return planned.filter(({ plan }) => plan.steps.length > 0);
}

async function assertAcceptable(db: Kysely<Database>, changes: readonly TypeChange[]): Promise<void> {
  const documents = new Map(changes.map(({ name, document }) => [name, document]));
  const inForce = await listDocuments(db);
  const problems: string[] = [];
  for (const change of changes) {
    const contradictions = faultsOfContradictions(change.document, inForce.get(change.name));
    const faults = [...contradictions, ...(await faultsOfRequirements(db, change, documents))];
    problems.push(...faults.map((fault) => `${change.name}: ${printableText(faultText(fault))}`));
  }
  if (problems.length > 0) throw new Refusal(problems.join('; '));
}

async function changesOf({ store: { db } }: Admin, paths: readonly string[], { prune }: PlanOptions): Promise<TypeChange[]> {
  const changes = await readTypeFiles(paths, 'command', 'types');
  if (!prune) return changes;
  const others = (await listTypes(db)).filter(({ name }) => !changes.some((change) => change.name === name));
  return [...changes, ...others.map(({ name }) => ({ name, document: null, source: 'command' as const }))];
}

const digestOf = (planned: readonly Planned[]): string =>
  createHash('sha256')
    .update(planned.map(({ plan }) => plan.digest).join())
    .digest('hex');

const isToBeConfirmed = ({ plan }: Planned): boolean => needsConfirmation(plan);

async function plan(admin: Admin, paths: readonly string[], options: PlanOptions): Promise<CommandOutcome> {
  const planned = await planAll(admin, await changesOf(admin, paths, options));
  return { ...report(planned), exitCode: planned.length === 0 ? 0 : planned.some(isToBeConfirmed) ? 4 : 3 };
}

function report(planned: readonly Planned[]): CommandOutcome {
  const plans = planned.map(({ plan, findings, fields }) => ({ ...plan, ...findings, fields }));
  const document = { digest: digestOf(planned), plans };
  if (planned.length === 0) return { document, text: 'Nothing to do: the types are in force as the files have them.' };
  const isLoss = planned.some(({ plan }) => plan.effect === 'loss');
  const what = isLoss ? 'A loss' : 'A change of what people see';
  const confirmation = planned.some(isToBeConfirmed) ? [`${what} needs --confirm ${document.digest}`] : [];
  return { document, text: [...planned.map(describePlanned), ...confirmation].join('\n\n') };
}

function describePlanned({ plan, findings, fields }: Planned): string {
  const { entities, unfit, examples } = findings;
  const steps = plan.steps.map(({ effect, kind, pointer }) => [`  ${effect}`, kind, pointer]);
  const misfits = examples.map(({ key, errors }) => `    ${key}: ${errors.map(faultText).map(printableText).join('; ')}`);
  const more = unfit > examples.length ? [`    and ${unfit - examples.length} more`] : [];
  const finding = needsCheck(plan) || needsRules(plan) ? `, ${unfit} do not fit` : '';
  return [
    `${plan.name} (${entities} entities${finding})`,
    ...tableText(['  EFFECT', 'KIND', 'POINTER'], steps, '').split('\n'),
    ...misfits,
    ...more,
    ...fields.map(describeAccess),
  ].join('\n');
}

function describeAccess({ pointer, change, grants, people, profiles }: FieldAccess): string {
  const counted = `${grants} ${grants === 1 ? 'grant' : 'grants'} and ${people} ${people === 1 ? 'person' : 'people'}`;
  const named = profiles.length > 0 ? ` (${profiles.map(printableText).join(', ')})` : '';
  return `  ${pointer}: ${counted} ${change === 'lost' ? 'lose' : 'gain'} it${named}`;
}

async function apply(admin: Admin, paths: readonly string[], options: TypesApplyOptions): Promise<CommandOutcome> {
  return await carryOut(admin, await planAll(admin, await changesOf(admin, paths, options), options.allowUnfit), options);
}

async function remove(admin: Admin, name: string, options: Pick<TypesApplyOptions, 'confirm'>): Promise<CommandOutcome> {
  const planned = await planAll(admin, [{ name, document: null, source: 'command' }]);
  if (planned.length === 0) throw new Refusal(`there is no type called "${name}"`);
  return await carryOut(admin, planned, options);
}

/** Carries out the changes, each by itself; none if one of them cannot be. */
async function carryOut(
  { desk, store, by: { actor } }: Admin,
  planned: readonly Planned[],
  options: TypesApplyOptions,
): Promise<CommandOutcome> {
  const { confirm, allowUnfit } = options;
  const reported = report(planned);
  const unfit = planned.filter(({ findings }) => findings.unfit > 0).map(({ plan }) => plan.name);
  const remedy = allowUnfit ? '' : ', or give --allow-unfit, unless they violate a rule';
  if (unfit.length > 0) return { ...reported, failure: `entities of ${unfit.join(', ')} do not fit: correct them${remedy}` };
  if (planned.some(isToBeConfirmed) && confirm !== digestOf(planned)) {
    const what = planned.some(({ plan }) => plan.effect === 'loss') ? 'loses something' : 'changes what people see';
    return { ...reported, failure: `this ${what}: give --confirm ${digestOf(planned)}` };
  }
  await applyAll(store, actor, planned, desk, options);
  const applied = planned.map(({ change }) => change.name);
  const text = applied.length > 0 ? `Applied: ${applied.join(', ')}.` : reported.text;
  return { document: { ...(reported.document as object), changed: applied.length > 0 }, text };
}

async function applyAll(
  store: Store,
  actor: Actor,
  planned: readonly Planned[],
  { errors }: Desk,
  { allowUnfit, force }: Pick<TypesApplyOptions, 'allowUnfit' | 'force'>,
): Promise<void> {
  const digests = new Map(planned.map(({ plan }) => [plan.name, plan.digest]));
  const changes = planned.map(({ change }) => change);
  const progress = new TypeProgress(errors);
  try {
    for (const change of inOrder(changes, await listDocuments(store.db))) {
      const confirm = digests.get(change.name);
      const { type } = await applyChange(store, actor, change, {
        allowUnfit,
        force,
        confirm,
        onProgress: (build) => progress.report(build),
        onWait: (name) => progress.wait(name),
      });
      // A type that first loses its references is deleted afterwards.
      digests.set(change.name, planOf(type, { ...change, document: null }).digest);
    }
  } catch (error) {
    throw error instanceof Problem && error.code === 'type-conflict' ? new Refusal(refusalText(error)) : error;
  } finally {
    progress.end();
  }
}

async function list({ store: { db } }: Admin): Promise<CommandOutcome> {
  const types = await listTypes(db);
  const rows = types.map(({ name, revision, source, appliedAt, appliedBy }) => [name, revision, source, timeText(appliedAt), appliedBy]);
  return { document: types, text: tableText(['NAME', 'REVISION', 'SOURCE', 'APPLIED', 'BY'], rows, 'There are no types.') };
}

interface TypeStatus extends Findings {
  name: string;
  /** 0 while the first type of the name is being built. */
  revision: string;
  /** `unchecked`: this version cannot check fields against the type, so each of its entities counts as unfit. */
  state: 'ready' | 'building' | 'unchecked';
}

async function status({ store: { db } }: Admin): Promise<CommandOutcome> {
  const document: TypeStatus[] = [];
  const builds = await listBuilds(db);
  const checks = new DocumentChecks();
  for (const { name } of await listTypes(db)) {
    const type = await findType(db, name);
    if (!type) continue;
    const entities = await countEntities(db, name);
    const isUnchecked = (await faultOfStored(type.document, type.source, checks)) !== undefined;
    const { unfit, examples } = isUnchecked ? { unfit: entities, examples: [] } : await unfitEntities(db, type);
    const state = builds.includes(name) ? 'building' : isUnchecked ? 'unchecked' : 'ready';
    document.push({ name, revision: type.revision, state, entities, unfit, examples });
  }
  // The first type of these names is being built.
  for (const name of builds.filter((each) => !document.some((type) => type.name === each)))
    document.push({ name, revision: '0', state: 'building', entities: await countEntities(db, name), unfit: 0, examples: [] });
  const rows = document.map(({ name, revision, state, entities, unfit }) => [name, revision, state, String(entities), String(unfit)]);
  return { document, text: tableText(['NAME', 'REVISION', 'STATE', 'ENTITIES', 'UNFIT'], rows, 'There are no types.') };
}

async function exportDocument({ store: { db } }: Admin, name: string): Promise<CommandOutcome> {
  const type = await findType(db, name);
  if (!type) throw new Refusal(`there is no type called "${name}"`);
  return { document: type.document, text: toJson(type.document) };
}
