/** `types …`: the entity types, from files to the database and back. */
import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { applyChange } from '../entity-types/apply.ts';
import { faultText, readTypeFiles } from '../entity-types/files.ts';
import { findingsOf, unfitEntities, type Findings } from '../entity-types/findings.ts';
import { planOf, type TypeChange, type TypePlan } from '../entity-types/plan.ts';
import { findType, listTypes } from '../entity-types/store.ts';
import { countEntities } from '../entities/scan.ts';
import { digestText, typeName } from './arguments.ts';
import { group, leaf, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printable, Refusal, table, timeText, toJson, type Outcome } from './output.ts';

interface PlanOptions {
  prune?: true;
}

interface ApplyOptions extends PlanOptions {
  confirm?: string;
  allowUnfit?: true;
}

export function typeCommands(program: Command, desk: Desk): void {
  const types = group(program, 'types', 'entity types: what the fields of a name must be like', [
    'types plan types/',
    'types apply types/',
  ]);
  const prune = ['--prune', 'delete declared types without a file'] as const;
  leaf(types, 'plan', 'tell what applying files would do; exit code 0: nothing, 3: changes, 4: a loss', [
    'types plan types/',
    'types plan types/ --prune --json',
  ])
    .argument('<path...>', 'files called <name>.json, .yaml or .yml, or directories of them')
    .option(...prune)
    .action((paths: string[], options: Shown & PlanOptions) => onDatabase(desk, options, (admin) => plan(admin, paths, options)));
  leaf(types, 'apply', 'put the documents of files in force', ['types apply types/', 'types apply types/customer.yaml --allow-unfit'])
    .argument('<path...>', 'files or directories, as for the plan')
    .option(...prune)
    .option('--confirm <digest>', 'the digest that the plan prints; needed for a loss', digestText)
    .option('--allow-unfit', 'accept stored entities that do not fit: they can be read, and must fit at their next update')
    .action((paths: string[], options: Shown & ApplyOptions) => onDatabase(desk, options, (admin) => apply(admin, paths, options)));
  leaf(types, 'list', 'list the types', ['types list']).action((options: Shown) => onDatabase(desk, options, list));
  leaf(types, 'status', 'check all entities of declared names against their types', ['types status', 'types status --json']).action(
    (options: Shown) => onDatabase(desk, options, status),
  );
  leaf(types, 'export', 'print the document of a type', ['types export customer > types/customer.json'])
    .argument('<name>', 'the name of the entities', typeName)
    .action((name: string, options: Shown) => onDatabase(desk, options, (admin) => exportDocument(admin, name)));
  leaf(types, 'delete', 'delete a type; its entities stay', ['types delete customer', 'types delete customer --confirm 9f86d0…'])
    .argument('<name>', 'the name of the entities', typeName)
    .option('--confirm <digest>', 'the digest that the command prints without it', digestText)
    .action((name: string, options: Shown & Pick<ApplyOptions, 'confirm'>) =>
      onDatabase(desk, options, (admin) => remove(admin, name, options)),
    );
}

/** A change with its plan and what the stored entities say to it. */
interface Planned {
  change: TypeChange;
  plan: TypePlan;
  findings: Findings;
}

async function planAll(admin: Admin, changes: readonly TypeChange[]): Promise<Planned[]> {
  const { db } = admin.store;
  const planned: Planned[] = [];
  for (const change of changes) {
    const plan = planOf(await findType(db, change.name), change);
    planned.push({ change, plan, findings: await findingsOf(db, plan, change) });
  }
  return planned.filter(({ plan }) => plan.steps.length > 0);
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

const isLoss = ({ plan }: Planned): boolean => plan.effect === 'loss';

async function plan(admin: Admin, paths: readonly string[], options: PlanOptions): Promise<Outcome> {
  const planned = await planAll(admin, await changesOf(admin, paths, options));
  return { ...report(planned), exitCode: planned.length === 0 ? 0 : planned.some(isLoss) ? 4 : 3 };
}

function report(planned: readonly Planned[]): Outcome {
  const plans = planned.map(({ plan, findings }) => ({ ...plan, ...findings }));
  const document = { digest: digestOf(planned), plans };
  if (planned.length === 0) return { document, text: 'Nothing to do: the types are in force as the files have them.' };
  const loss = planned.some(isLoss) ? [`A loss needs --confirm ${document.digest}`] : [];
  return { document, text: [...planned.map(describePlanned), ...loss].join('\n\n') };
}

function describePlanned({ plan, findings }: Planned): string {
  const { entities, unfit, examples } = findings;
  const steps = plan.steps.map(({ effect, kind, pointer }) => [`  ${effect}`, kind, pointer]);
  const misfits = examples.map(({ key, errors }) => `    ${key}: ${errors.map(faultText).map(printable).join('; ')}`);
  const more = unfit > examples.length ? [`    and ${unfit - examples.length} more`] : [];
  const finding = plan.effect === 'check' ? `, ${unfit} do not fit` : '';
  return [
    `${plan.name} (${entities} entities${finding})`,
    ...table(['  EFFECT', 'KIND', 'POINTER'], steps, '').split('\n'),
    ...misfits,
    ...more,
  ].join('\n');
}

async function apply(admin: Admin, paths: readonly string[], options: ApplyOptions): Promise<Outcome> {
  return await carryOut(admin, await planAll(admin, await changesOf(admin, paths, options)), options);
}

async function remove(admin: Admin, name: string, options: Pick<ApplyOptions, 'confirm'>): Promise<Outcome> {
  const planned = await planAll(admin, [{ name, document: null, source: 'command' }]);
  if (planned.length === 0) throw new Refusal(`there is no type called "${name}"`);
  return await carryOut(admin, planned, options);
}

/** Carries out the changes, each in a transaction of its own; none if one of them cannot be. */
async function carryOut({ store, actor }: Admin, planned: readonly Planned[], { confirm, allowUnfit }: ApplyOptions): Promise<Outcome> {
  const reported = report(planned);
  const unfit = planned.filter(({ findings }) => findings.unfit > 0).map(({ plan }) => plan.name);
  if (unfit.length > 0 && !allowUnfit)
    return { ...reported, failure: `entities of ${unfit.join(', ')} do not fit: correct them, or give --allow-unfit` };
  if (planned.some(isLoss) && confirm !== digestOf(planned))
    return { ...reported, failure: `this loses something: give --confirm ${digestOf(planned)}` };
  for (const { change, plan } of planned) await applyChange(store, actor, change, { allowUnfit, confirm: plan.digest });
  const names = planned.map(({ change }) => change.name);
  const text = names.length > 0 ? `Applied: ${names.join(', ')}.` : reported.text;
  return { document: { ...(reported.document as object), changed: names.length > 0 }, text };
}

async function list({ store: { db } }: Admin): Promise<Outcome> {
  const types = await listTypes(db);
  const rows = types.map(({ name, revision, source, appliedAt, appliedBy }) => [name, revision, source, timeText(appliedAt), appliedBy]);
  return { document: types, text: table(['NAME', 'REVISION', 'SOURCE', 'APPLIED', 'BY'], rows, 'There are no types.') };
}

async function status({ store: { db } }: Admin): Promise<Outcome> {
  const document = [];
  for (const { name } of await listTypes(db)) {
    const type = await findType(db, name);
    if (!type) continue;
    const { unfit, examples } = await unfitEntities(db, type);
    document.push({ name, revision: type.revision, entities: await countEntities(db, name), unfit, examples });
  }
  const rows = document.map(({ name, revision, entities, unfit }) => [name, revision, String(entities), String(unfit)]);
  return { document, text: table(['NAME', 'REVISION', 'ENTITIES', 'UNFIT'], rows, 'There are no types.') };
}

async function exportDocument({ store: { db } }: Admin, name: string): Promise<Outcome> {
  const type = await findType(db, name);
  if (!type) throw new Refusal(`there is no type called "${name}"`);
  return { document: type.document, text: toJson(type.document) };
}
