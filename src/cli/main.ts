/**
 * The administration command, `npm run admin -- …`: what operators do by hand and in scripts, on the database of the settings, also while
 * the service runs.
 */
import { readEnvironment } from '../config/environment.ts';
import type { Desk } from './command.ts';
import { runCommand } from './program.ts';

// Whoever reads only the beginning (`| head`) has what they wanted.
process.stdout.on('error', () => process.exit());

const desk: Desk = { input: process.stdin, output: process.stdout, errors: process.stderr, environment: readEnvironment, exitCode: 0 };
await runCommand(process.argv.slice(2), desk);
process.exitCode = desk.exitCode;
