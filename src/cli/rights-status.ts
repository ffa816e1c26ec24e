/** `rights status`: how the rights in force differ from files. */
import type { Command } from 'commander';
import { driftFromFiles, type RightsDrift } from '../administration/rights/drift.ts';
import { readRightsDirectory } from '../administration/rights/read-directory.ts';
import { addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { tableText, type CommandOutcome } from './output.ts';

export function statusCommand(rights: Command, desk: Desk): void {
  addCommand(rights, 'status', 'tell how the rights in force differ from files; exit code 3: they do', [
    'rights status rights/',
    'rights status rights/ --json',
  ])
    .argument('<directory>', 'the directory with roles/, profiles/ and attributes.yaml')
    .action((directory: string, options: Shown) => onDatabase(desk, options, (admin) => status(admin, directory)));
}

async function status({ store: { db } }: Admin, directory: string): Promise<CommandOutcome> {
  const drift = await driftFromFiles(db, await readRightsDirectory(directory, 'rights'));
  const { differences, withoutFile } = drift;
  const others = `no file has ${withoutFile.join(', ')}`;
  return {
    document: drift,
    text: tableText(['DOCUMENT', 'IN FORCE'], differences.map(cellsOf), 'The rights are in force as the files have them.'),
    exitCode: differences.length > 0 ? 3 : 0,
    ...(withoutFile.length > 0 && { note: others }),
  };
}

const cellsOf = ({ path, isMissing }: RightsDrift['differences'][number]): [string, string] => [path, isMissing ? 'missing' : 'differs'];
