/** `entities …`: files of all entities of a name, into the database and out of it. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { typeName, userName } from './arguments.ts';
import { addGroup, addCommand, onDatabase, type Desk, type Shown } from './command.ts';
import { exportFile, type ExportCommand } from './export-file.ts';
import { delimiters } from '../transfer/columns.ts';
import { importFile, type ImportCommand } from './import-file.ts';

export function entityCommands(program: Command, desk: Desk): void {
  const entities = addGroup(program, 'entities', 'entities: files of all of a name', [
    'entities import customer customers.csv --as ada --by email --dry-run',
    'entities export customer customers.ndjson',
  ]);
  const format = () => new Option('--format <format>', 'ndjson or csv (default: by the end of the file name)').choices(['ndjson', 'csv']);
  const delimiter = () => new Option('--delimiter <name>', 'between the cells of CSV').choices(Object.keys(delimiters)).default('comma');
  addCommand(entities, 'import', 'create or update an entity of each row of a file; exit code 1: a row was refused', [
    'entities import customer customers.csv --as ada --by email',
    'entities import customer - --as ada < customers.ndjson',
  ])
    .argument('<name>', 'the name of the entities', typeName)
    .argument('<file>', 'the file, or - for standard input')
    .requiredOption('--as <user>', 'the user who has created and updated the entities', userName)
    .addOption(format())
    .option('--by <fields>', 'fields of a unique rule, with commas between, or $key: update the entities with the same values')
    .addOption(
      new Option('--mode <mode>', 'update the fields of the file, replace all fields, or merge')
        .choices(['update', 'replace', 'merge'])
        .default('update'),
    )
    .option('--dry-run', 'write nothing')
    .option('--from-row <row>', 'the first row that counts', rowNumber, 1)
    .addOption(delimiter())
    .option('--csv-safe', 'remove the apostrophes that an export with --csv-safe has written')
    .option('--keep-keys', 'store keys of a file of another database as they are')
    .action((name: string, file: string, options: Shown & ImportCommand) =>
      onDatabase(desk, options, (admin) => importFile(admin, name, file, options)),
    );
  addCommand(entities, 'export', 'write the entities of a name into a file', [
    'entities export customer customers.csv',
    `entities export customer - --fields company,city --filter '{"city":"London"}' | head`,
  ])
    .argument('<name>', 'the name of the entities', typeName)
    .argument('<file>', 'the file, which must not exist, or - for standard output')
    .addOption(format())
    .option('--filter <json>', 'which entities, as docs/filters.md has it (default: all)')
    .option('--fields <names>', 'the fields to write, with commas between and dots into objects (default: all)')
    .option('--sort <fields>', 'fields with commas between, - in front for descending (default: by key)')
    .option('--search <words>', 'words that the entities must have')
    .addOption(delimiter())
    .option('--bom', 'begin CSV with a byte order mark, by which Excel recognises UTF-8')
    .option('--csv-safe', 'put an apostrophe in front of texts that a spreadsheet would take for formulas')
    .action((name: string, file: string, options: Shown & ExportCommand) =>
      onDatabase(desk, options, (admin) => exportFile(admin, name, file, options)),
    );
}

function rowNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give the number of a row, from 1.');
  return Number(text);
}
