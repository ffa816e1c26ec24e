/**
 * The administration command, `npm run admin -- …`: what operators do by hand and in scripts, on the database of the settings, also while
 * the service runs. Exit code 0: done; 1: refused or failed; 2: wrong usage.
 */
import { readConfig, type Config } from '../config.ts';
import { readEnvironment } from '../environment.ts';
import { failureOf } from './failure.ts';
import { toJson } from './output.ts';
import { buildProgram } from './program.ts';

// Whoever reads only the beginning (`| head`) has what they wanted.
process.stdout.on('error', () => process.exit());

try {
  await buildProgram().parseAsync();
} catch (error) {
  const { messages, exitCode } = failureOf(error, readableConfig());
  for (const message of messages) process.stderr.write(`error: ${message}\n`);
  if (messages.length > 0 && process.argv.includes('--json')) process.stdout.write(`${toJson({ error: messages.join('; ') })}\n`);
  process.exitCode = exitCode;
}

/** Which database could not be reached, for the message; undefined when the settings are what is wrong. */
function readableConfig(): Config | undefined {
  try {
    return readConfig(readEnvironment());
  } catch {
    return undefined;
  }
}
