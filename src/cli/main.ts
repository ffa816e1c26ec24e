/**
 * The administration command, `npm run admin -- …`, for operators and scripts. It works on the database of the settings, also while the
 * service runs.
 */
import { readEnvironment } from '../config/environment.ts';
import type { Desk } from './command.ts';
import { runCommand } from './program.ts';

const desk: Desk = { input: process.stdin, output: process.stdout, errors: process.stderr, environment: readEnvironment, exitCode: 0 };
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early (`| head`) needs no more output.
  if (error.code === 'EPIPE') process.exit();
  desk.outputError ??= error;
});
// Without a listener a reader that has ended changes the exit code.
process.stderr.on('error', () => undefined);
// The error of an output may arrive after the end of the command.
process.on('exit', () => {
  if (!desk.outputError) return;
  const reason = desk.outputError.message;
  process.stderr.write(
    `error: standard output cannot be written (${reason}): changes of the command stand, and what it had to show is lost\n`,
  );
  process.exitCode = 1;
});
await runCommand(process.argv.slice(2), desk);
process.exitCode = desk.exitCode;
