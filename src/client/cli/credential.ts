/** The credential of the command: from the environment, or from a prompt. Never from the command line, which other users of the machine can read. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './usage-error.ts';

export interface CredentialOptions {
  'api-key'?: boolean | undefined;
  token?: boolean | undefined;
  user?: string | undefined;
}

export type CommandCredential = { apiKey: string } | { bearer: string } | { user: string; password: string };

/** Reads a secret for which the environment has no variable. */
export type Prompt = (question: string) => Promise<string>;

const variables = { apiKey: 'ENTITY_SERVICE_API_KEY', bearer: 'ENTITY_SERVICE_TOKEN', password: 'ENTITY_SERVICE_PASSWORD' } as const;

/** Throws a UsageError for no credential, for two, and where a prompt is needed and there is no terminal. */
export async function readCredential(
  options: CredentialOptions,
  environment: NodeJS.ProcessEnv,
  prompt: Prompt,
): Promise<CommandCredential> {
  const { 'api-key': apiKey, token, user } = options;
  const chosen = [apiKey, token, user !== undefined].filter(Boolean).length;
  if (chosen > 1) throw new UsageError('give one of --api-key, --token and --user');
  const secret = async (name: keyof typeof variables, question: string) => environment[variables[name]] ?? (await prompt(question));
  if (user !== undefined) return { user, password: await secret('password', `Password of ${user}: `) };
  if (token || (chosen === 0 && environment[variables.bearer] !== undefined && environment[variables.apiKey] === undefined))
    return { bearer: await secret('bearer', 'Access token: ') };
  if (apiKey || environment[variables.apiKey] !== undefined) return { apiKey: await secret('apiKey', 'API key: ') };
  throw new UsageError(`no credential: set ${variables.apiKey} or ${variables.bearer}, or give --api-key, --token or --user NAME`);
}

/** Reads a secret from the terminal, which does not show the input. */
export const promptOnTerminal: Prompt = async (question) => {
  if (!process.stdin.isTTY) throw new UsageError(`no terminal to ask for a secret: set ${Object.values(variables).join(', ')}`);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(question);
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
};
