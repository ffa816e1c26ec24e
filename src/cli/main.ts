/**
 * The administration command, `npm run admin -- …`, for operators and scripts. It works on the database of the settings, also while the
 * service runs.
 */
import { readEnvironment } from '../config/environment.ts';
import type { Desk } from './command.ts';
import { runCommand } from './program.ts';

// A reader that closes the pipe early (`| head`) needs no more output.
process.stdout.on('error', () => process.exit());

const desk: Desk = { input: process.stdin, output: process.stdout, errors: process.stderr, environment: readEnvironment, exitCode: 0 };
await runCommand(process.argv.slice(2), desk);
process.exitCode = desk.exitCode;
