/** All commands in one tree. */
import { Command } from 'commander';
import { auditCommands } from './audit.ts';
import { databaseCommands } from './database.ts';
import { keyCommands } from './keys.ts';
import { profileCommands } from './profiles.ts';
import { Refusal } from './output.ts';
import { roleCommands } from './roles.ts';
import { userCommands } from './users.ts';

const after = `
Works on the database of DATABASE_URL, or on the embedded one in DATA_DIR, also while the service runs.
Every command takes --json, which prints one JSON document to standard output; run it as "npm run -s admin -- …"
so that npm adds nothing. Exit code 0: done; 1: refused or failed; 2: wrong usage.

Examples:
  $ npm run admin -- user create ada --display-name "Ada Lovelace"
  $ npm run admin -- role create editor
  $ npm run admin -- role grant editor --entity customer --actions create,read,update
  $ npm run admin -- profile create sales --label Sales --roles editor
  $ npm run admin -- user profile add ada sales
  $ npm run admin -- key create ada --name "nightly import"
  $ npm run admin -- help user
  $ npm run admin -- user create --help`;

/** The command line, which throws what ends it and never ends the process. */
export function buildProgram(): Command {
  const program = new Command('npm run admin --')
    .description('Administers Entity Service: users, roles, profiles, API keys, the audit trail, the database.')
    .addHelpText('after', after)
    .helpCommand(false)
    .exitOverride()
    // Messages are printed in one place, by what catches them.
    .configureOutput({ outputError: () => undefined });
  userCommands(program);
  roleCommands(program);
  profileCommands(program);
  keyCommands(program);
  auditCommands(program);
  databaseCommands(program);
  program
    .command('help')
    .description('explain a command')
    .argument('[command...]', 'its words, as in "help user create"')
    .action((words: string[]) => findCommand(program, words).outputHelp());
  return program;
}

/** The command that `words` name. Throws {@link Refusal} when there is none. */
function findCommand(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((each) => each.name() === word);
    if (!found) throw new Refusal(`there is no command "${words.join(' ')}"`, 2);
    return found;
  }, program);
}
