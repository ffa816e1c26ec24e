/** The options of a script. A wrong option ends the process with status 2, and `--help` with 0. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Described = NonNullable<ParseArgsConfig['options']>;

/**
 * The options of the script called `name`, and up to `maximumWords` other words; `positive` reads an option as a number above 0, `fail` tells what is wrong with
 * them.
 */
export function readOptions<const Options extends Described>(name: string, usage: string, options: Options, maximumWords = 0) {
  const fail = (reason: string): never => {
    process.stderr.write(`${name}: ${reason}\n\n${usage}`);
    process.exit(2);
  };
  const read = () => {
    try {
      return parseArgs({ options: { ...options, help: { type: 'boolean', default: false } }, allowPositionals: maximumWords > 0 });
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
  };
  const { values: parsed, positionals: words } = read();
  const values = parsed as ReturnType<typeof parseArgs<{ options: Options }>>['values'] & { help: boolean };
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  if (words.length > maximumWords) fail(`too many words: ${words.slice(maximumWords).join(' ')}`);
  const positive = (option: string & keyof Options, { whole = false } = {}): number => {
    const value = Number((values as Record<string, unknown>)[option]);
    const isRight = value > 0 && (whole ? Number.isInteger(value) : Number.isFinite(value));
    return isRight ? value : fail(`--${option} must be a ${whole ? 'whole ' : ''}number above 0`);
  };
  return { values, words, positive, fail };
}
