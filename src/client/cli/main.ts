#!/usr/bin/env node
/** The command line of the package: `entity-service-client types`. */
import { parseArgs } from 'node:util';
import { ApiError, ClientError } from '../errors.ts';
import { promptOnTerminal } from './credential.ts';
import { writeTypes } from './types-command.ts';
import { UsageError } from './usage-error.ts';

const help = `Usage: entity-service-client types --url URL [options]

Writes TypeScript types of the declared entity types that the caller may see.

  --url URL      address of the service, or ENTITY_SERVICE_URL
  --type NAME    only this type; can be repeated
  --out FILE     write the file; without it the types are printed
  --check        write nothing, and fail if the file is not up to date

Credential, one of:
  --api-key      an API key, from ENTITY_SERVICE_API_KEY or a prompt
  --token        an access token, from ENTITY_SERVICE_TOKEN or a prompt
  --user NAME    a user, whose password is in ENTITY_SERVICE_PASSWORD or asked for
Without these options one of the first two variables is used.
`;

const options = {
  url: { type: 'string' },
  type: { type: 'string', multiple: true },
  out: { type: 'string' },
  check: { type: 'boolean' },
  'api-key': { type: 'boolean' },
  token: { type: 'boolean' },
  user: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

async function run(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help || positionals[0] === 'help') {
    process.stdout.write(help);
    return 0;
  }
  const [command, ...rest] = positionals;
  if (command !== 'types')
    throw new UsageError(command === undefined ? 'give a command: types' : `there is no command ${command}; there is types`);
  if (rest.length > 0)
    throw new UsageError('no argument follows types. Secrets come from the environment or a prompt, not from the command line');
  return await writeTypes(values, {
    environment: process.env,
    prompt: promptOnTerminal,
    print: (text) => process.stdout.write(text),
    report: (text) => process.stderr.write(`${text}\n`),
  });
}

function readArguments() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\nentity-service-client --help shows how the command is called.`;
  if (error instanceof ApiError) return `The service refused: ${error.title}. ${error.detail} (${error.status} ${error.code})`;
  if (error instanceof ClientError) return `No answer from the service: ${error.message}`;
  return String(error);
}
