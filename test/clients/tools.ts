/** Runs the tools that `npm run test:clients` installs in this folder. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The tools run here, so paths in their arguments are relative to it. */
export const folder = import.meta.dirname;
const run = promisify(execFile);

/** The path of a tool's command. */
export const commandOf = (tool: string) => join(folder, 'node_modules/.bin', tool);

/** Runs a tool to its end. Returns its standard output; rejects with all its output if its exit status is not 0. */
export async function runTool(tool: string, ...options: string[]): Promise<string> {
  return await runCommand(commandOf(tool), options);
}

/** Runs the compiler or a generator of this project's own packages in the same way. */
export async function runOwnTool(tool: string, ...options: string[]): Promise<string> {
  return await runCommand(join(folder, '../../node_modules/.bin', tool), options);
}

/** Runs a compiled program in the same way, with `environment` added. */
export async function runProgram(path: string, environment: Record<string, string>): Promise<string> {
  return await runCommand(process.execPath, [path], environment);
}

async function runCommand(command: string, options: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const settings = { cwd: folder, env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await run(command, options, settings).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${command} ${options.join(' ')} failed:\n${error.stdout}${error.stderr}`);
  });
  return stdout;
}
