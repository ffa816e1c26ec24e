/** The words behind the command that starts the service. Its settings are no such words. */
import { startCommand } from '../config/command-name.ts';

const usage = `${startCommand} runs the service. Its settings are environment variables, or lines of .env (docs/settings.md).

  --help  print this
`;

/** A text to print instead of a start. */
export interface Printout {
  text: string;
  /** The exit status: 0 for the help, 2 for a word that has no meaning. The text of a refusal goes to standard error. */
  status: 0 | 2;
}

/** Undefined if there are no words, so that the service starts. */
export function printoutFor(words: readonly string[]): Printout | undefined {
  const [first] = words;
  if (first === undefined) return undefined;
  return words.includes('--help') || words.includes('-h')
    ? { text: usage, status: 0 }
    : { text: `entity-service: the start takes no "${first}"\n\n${usage}`, status: 2 };
}
