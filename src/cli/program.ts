/** The tree of all commands, and running one of them. */
import { Command } from 'commander';
import { adminCommand } from '../config/command-name.ts';
import { readConfig, type Config } from '../config/settings.ts';
import { exampleHelp, type Desk } from './command.ts';
import { failureOf } from './failure.ts';
import { Refusal, toJson } from './output.ts';
import { readVersion } from '../config/version.ts';

const quietly = adminCommand.startsWith('npm') ? ';\nrun it as "npm run -s admin -- …" so that npm adds nothing' : '';

const after = `
Works on the database of DATABASE_URL, or on the embedded one in DATA_DIR, also while the service runs.
Every command takes --json, which prints one JSON document to standard output${quietly}.
Exit code 0: done; 1: refused or failed; 2: wrong usage.

Examples:
  $ ${adminCommand} user create ada --display-name "Ada Lovelace"
  $ ${adminCommand} role create editor
  $ ${adminCommand} role grant editor --entity customer --actions create,read,update
  $ ${adminCommand} profile create sales --label Sales --roles editor
  $ ${adminCommand} user profile add ada sales
  $ ${adminCommand} key create ada --name "nightly import"
  $ ${adminCommand} help user
  $ ${adminCommand} user create --help`;

/** The groups of commands by their first words. Each is loaded when it is needed, since together they take a sixth of a command's time. */
const groups: readonly { words: readonly string[]; load: () => Promise<(program: Command, desk: Desk) => void> }[] = [
  { words: ['user'], load: async () => (await import('./users.ts')).userCommands },
  { words: ['role'], load: async () => (await import('./roles.ts')).roleCommands },
  { words: ['profile'], load: async () => (await import('./profiles.ts')).profileCommands },
  { words: ['attribute'], load: async () => (await import('./attributes.ts')).attributeCommands },
  { words: ['rights'], load: async () => (await import('./rights.ts')).rightsCommands },
  { words: ['key'], load: async () => (await import('./keys.ts')).keyCommands },
  { words: ['entities'], load: async () => (await import('./entities.ts')).entityCommands },
  { words: ['types'], load: async () => (await import('./types.ts')).typeCommands },
  { words: ['identity'], load: async () => (await import('./identities.ts')).identityCommands },
  { words: ['audit'], load: async () => (await import('./audit.ts')).auditCommands },
  { words: ['service-secret'], load: async () => (await import('./service-secret.ts')).serviceSecretCommands },
  { words: ['migrate', 'doctor'], load: async () => (await import('./database.ts')).databaseCommands },
  { words: ['database'], load: async () => (await import('./transfer.ts')).transferCommands },
];

/** Runs the command that `words` name and writes its outcome to the desk. Never throws. */
export async function runCommand(words: readonly string[], desk: Desk): Promise<void> {
  try {
    const program = await buildProgram(desk, words[0]);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    // The process itself reports an output that cannot be written.
    if (desk.outputError !== undefined && error === desk.outputError) return;
    const { messages, exitCode } = failureOf(error, readableConfig(desk));
    for (const message of messages) desk.errors.write(`error: ${message}\n`);
    if (messages.length > 0 && words.includes('--json')) desk.output.write(`${toJson({ error: messages.join('; ') })}\n`);
    desk.exitCode = exitCode;
  }
}

/** The settings, for a message about an unreachable database; undefined if the settings themselves are invalid. */
function readableConfig({ environment }: Desk): Config | undefined {
  try {
    return readConfig(environment());
  } catch {
    return undefined;
  }
}

/**
 * The command line: with `first`, the first word of a command, only its group, otherwise all of them. The program throws the error that ends
 * it and never ends the process.
 */
export async function buildProgram(desk: Desk, first?: string): Promise<Command> {
  const program = new Command(adminCommand)
    .description(
      'Administers Entity Service: users, roles, profiles, attributes, rights, API keys, identities, entity types, the audit trail, the database.',
    )
    .addHelpText('after', after)
    .version(readVersion(), '--version', 'show the version')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => desk.output.write(text),
      writeErr: (text) => desk.errors.write(text),
      // The caller that catches the error prints all messages.
      outputError: () => undefined,
    })
    .hook('preAction', (_program, command) => refuseEmpty(command));
  const named = groups.filter(({ words }) => words.some((word) => word === first));
  for (const { load } of named.length > 0 ? named : groups) (await load())(program, desk);
  program
    .command('help')
    .description('explain a command')
    .argument('[command...]', 'its words')
    .addHelpText('after', exampleHelp(['help user create']))
    .action((words: string[]) => findCommand(program, words).outputHelp());
  return program;
}

/** An empty value is a variable of the operator's shell that is not set. Throws {@link Refusal}. */
function refuseEmpty(command: Command): void {
  for (const option of command.options)
    if (command.getOptionValue(option.attributeName()) === '') throw new Refusal(`the value of ${option.flags} is empty`, 2);
  const index = command.args.indexOf('');
  const argument = command.registeredArguments[index] ?? command.registeredArguments.at(-1);
  if (index >= 0) throw new Refusal(`the argument <${argument?.name()}> is empty`, 2);
}

/** The command that `words` name. Throws {@link Refusal} if there is none. */
function findCommand(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((each) => each.name() === word);
    if (!found) throw new Refusal(`there is no command "${words.join(' ')}"`, 2);
    return found;
  }, program);
}
