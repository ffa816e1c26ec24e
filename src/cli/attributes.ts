/** `attribute …`: the declared attributes of users and profiles; and the option of `user update` and `profile update` that sets their values. */
import { Argument, InvalidArgumentError, type Command } from 'commander';
import { listAttributes, readDeclaredAttributes, type AttributeState } from '../accounts/attributes.ts';
import { declareAttribute, removeAttribute } from '../administration/attributes/use-cases.ts';
import type { AttributeChanges } from '../administration/attributes/change.ts';
import { jsonLimits, readJson } from '../json/json.ts';
import { describeFault } from '../locales/describe.ts';
import { Problem } from '../problems/errors.ts';
import { pathOf } from '../problems/pointer.ts';
import type { AttributeType } from '../rights/attribute-types.ts';
import { isAttributeName } from '../rights/names.ts';
import type { AttributeOwner } from '../rights/vocabulary.ts';
import { addCommand, addGroup, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { changeRights } from './own-rights.ts';
import { printableText, Refusal, tableText, type CommandOutcome } from './output.ts';

const listOfTexts = `'{"type":"array","items":{"type":"string"}}'`;
const ownerArgument = () => new Argument('<owner>', 'who has values of it').choices(['user', 'profile']);

export function attributeCommands(program: Command, desk: Desk): void {
  const attributes = addGroup(program, 'attribute', 'attributes: values of users and profiles that rules compare with fields', [
    `attribute set user regions --schema ${listOfTexts}`,
    `user update ada --attribute regions='["north"]'`,
  ]);
  addCommand(attributes, 'set', 'declare an attribute, or give it another type', [
    `attribute set user regions --schema ${listOfTexts}`,
    `attribute set user customer --schema '{"type":"string","format":"int64","to":"customer"}'`,
    `attribute set profile level --schema '{"type":"number"}'`,
  ])
    .addArgument(ownerArgument())
    .argument('<name>', 'the name of the attribute', attributeName)
    .requiredOption('--schema <json>', 'a JSON Schema: its type, with format, enum, items or to', jsonText)
    .action((owner: AttributeOwner, name: string, options: Shown & { schema: unknown }) =>
      changeRights(desk, options, (admin) => declare(admin, { owner, name, schema: options.schema })),
    );
  addCommand(attributes, 'list', 'list all attributes', ['attribute list', 'attribute list --json']).action((options: Shown) =>
    onDatabase(desk, options, async ({ store: { db } }) => {
      const rows = await listAttributes(db);
      const cells = rows.map(({ owner, name, schema }) => [owner, name, JSON.stringify(schema)]);
      return { document: rows, text: tableText(['OWNER', 'NAME', 'SCHEMA'], cells, 'There are no attributes yet.') };
    }),
  );
  addCommand(attributes, 'remove', 'remove an attribute, with the values that users or profiles have of it', [
    'attribute remove user regions',
  ])
    .addArgument(ownerArgument())
    .argument('<name>', 'the name of the attribute', attributeName)
    .action((owner: AttributeOwner, name: string, options: Shown) =>
      changeRights(desk, options, (admin) => remove(admin, { owner, name })),
    );
}

async function declare({ store, by }: Admin, attribute: AttributeState): Promise<CommandOutcome> {
  const { state, changed, unfit } = await declareAttribute(store, by, attribute).catch(throwRefusal);
  const { owner, name } = state;
  const text = changed ? `Declared the attribute ${name} of ${owner}s.` : `Unchanged: the attribute ${name} of ${owner}s.`;
  const note = `${unfit === 1 ? `1 ${owner} has a value` : `${unfit} ${owner}s have a value`} that is not of this type, and counts as missing`;
  return { document: { ...state, changed, unfit }, text, ...(unfit > 0 && { note }) };
}

async function remove({ store, by }: Admin, attribute: Pick<AttributeState, 'owner' | 'name'>): Promise<CommandOutcome> {
  const { owner, name } = attribute;
  const { holders } = await removeAttribute(store, by, attribute);
  const had = holders === 1 ? `1 ${owner} had a value.` : `${holders} ${owner}s had a value.`;
  return { document: { ...attribute, holders, changed: true }, text: `Removed the attribute ${name} of ${owner}s. ${had}` };
}

/** The name of an attribute. */
function attributeName(text: string): string {
  if (isAttributeName(text)) return text;
  throw new InvalidArgumentError(
    'Such a name has 1 to 64 ASCII letters, digits, "_" or "-", the first of them a letter; "name" and "attributes" are reserved.',
  );
}

/** Values by name, as they were typed. */
export type TypedAttributes = Readonly<Record<string, string>>;

/** One `--attribute` such as `level=2`, after those given before it. */
export function attributeChanges(text: string, before: TypedAttributes = {}): TypedAttributes {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give a name, "=" and a value as JSON: level=2, or level=null to remove it.');
  return { ...before, [attributeName(text.slice(0, at))]: text.slice(at + 1) };
}

/** The option that sets attributes. */
export const attributeOption = ['--attribute <name=json>', 'set an attribute, null removes it; can be repeated', attributeChanges] as const;

/** The typed values as their declared types have them. An attribute of texts takes a text without quotes too. */
export async function readAttributes(
  { store: { db } }: Admin,
  owner: AttributeOwner,
  typed: TypedAttributes | undefined,
): Promise<AttributeChanges | undefined> {
  if (!typed) return undefined;
  const { [owner]: declared } = await readDeclaredAttributes(db);
  return Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, readValue(text, declared.get(name), name)]));
}

function readValue(text: string, type: AttributeType | undefined, name: string): unknown {
  const isText = type && !type.isList && type.scalar !== 'number' && type.scalar !== 'boolean';
  if (isText && text !== 'null' && !text.startsWith('"')) return text;
  const read = readJson(Buffer.from(text), jsonLimits);
  if ('code' in read) throw new Refusal(`the value of the attribute "${name}" is no JSON: ${describeFault('en', read).detail}`, 2);
  return read.value;
}

/** A JSON text. */
function jsonText(text: string): unknown {
  const read = readJson(Buffer.from(text), jsonLimits);
  if ('code' in read) throw new InvalidArgumentError(describeFault('en', read).detail);
  return read.value;
}

/** Throws the problem as one line that names each fault, or as it is if it is of another kind. */
export function throwRefusal(problem: unknown): never {
  if (!(problem instanceof Problem) || problem.code !== 'validation-failed' || problem.faults.some(({ code }) => code === 'too-many-tests'))
    throw problem;
  const lines = problem.faults.map((fault) => `${pathOf(fault.pointer ?? '').join('.')}: ${describeFault('en', fault).detail}`);
  throw new Refusal(printableText(lines.join(' ')));
}

/** The attributes in one cell of a table. */
export function attributeCell(attributes: Readonly<Record<string, unknown>>): string {
  const each = Object.entries(attributes).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return each.join(' ') || '-';
}
