/** `rights export`: what is in force, as files. */
import type { Command } from 'commander';
import { readRightsInForce } from '../administration/rights/in-force.ts';
import { filesOfRights, writeRightsDirectory } from '../administration/rights/write-directory.ts';
import { keysIn, readAttributeType } from '../rights/attribute-types.ts';
import type { RightsDocuments } from '../rights/documents.ts';
import { addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { printableText, Refusal, type CommandOutcome } from './output.ts';

interface RightsExportOptions {
  out?: string;
}

export function exportCommand(rights: Command, desk: Desk): void {
  addCommand(rights, 'export', 'print the roles, profiles and attributes in force, or write them as files', [
    'rights export',
    'rights export --out rights/',
  ])
    .option('--out <directory>', 'the directory to make, which must not exist (default: standard output)')
    .action((options: Shown & RightsExportOptions) => onDatabase(desk, options, (admin) => exportRights(admin, options)));
}

async function exportRights({ store: { db } }: Admin, { out }: RightsExportOptions): Promise<CommandOutcome> {
  const inForce = await readRightsInForce(db);
  const files = filesOfRights(inForce);
  if (out !== undefined) await write(out, files);
  const text = [...files].map(([path, each]) => `# ${path}\n${each.trimEnd()}`).join('\n---\n');
  const bound = keysOfDatabase(inForce);
  const note = `keys of entities of this database are in ${bound.join(', ')}: another database may have others`;
  return {
    document: { files: Object.fromEntries(files) },
    text: out === undefined ? printableLines(text) : `Wrote ${files.size} files to ${printableText(out)}.`,
    ...(bound.length > 0 && { note }),
  };
}

/** The profiles with attributes that are keys of entities. */
function keysOfDatabase({ attributes, profiles }: RightsDocuments): string[] {
  const types = [...attributes.profile].flatMap(([name, schema]) => {
    const type = readAttributeType(schema);
    return 'scalar' in type ? [{ name, type }] : [];
  });
  return [...profiles].flatMap(([name, { attributes: values }]) =>
    types.some(({ name: attribute, type }) => values[attribute] !== undefined && keysIn(type, values[attribute]).length > 0)
      ? [`profiles/${name}`]
      : [],
  );
}

const printableLines = (text: string): string => text.split('\n').map(printableText).join('\n');

async function write(directory: string, files: ReadonlyMap<string, string>): Promise<void> {
  try {
    await writeRightsDirectory(directory, files);
  } catch (error) {
    throw new Refusal(printableText(`${directory} cannot be written: ${error instanceof Error ? error.message : String(error)}`));
  }
}
