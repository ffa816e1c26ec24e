/** Converts an error that ended a command to an exit code and lines for people. */
import { CommanderError } from 'commander';
import type { Config } from '../config/settings.ts';
import { Problem } from '../problems/errors.ts';
import { translateProblem } from '../locales/describe.ts';
import { explainFailure } from '../start/failure.ts';
import { Refusal } from './output.ts';
import { refusalText } from './refusals.ts';

export interface CommandFailure {
  /** Empty if help was requested, or was printed because an argument was missing. */
  messages: string[];
  exitCode: 0 | 1 | 2;
}

/** The lines and the exit code of an error that ended the command. `config` is undefined if the settings could not be read. */
export function failureOf(error: unknown, config: Config | undefined): CommandFailure {
  if (!(error instanceof CommanderError)) {
    return { messages: messagesOf(error, config), exitCode: error instanceof Refusal ? error.exitCode : 1 };
  }
  if (error.exitCode === 0) return { messages: [], exitCode: 0 };
  // A suggestion ("Did you mean …?") is on a line of its own.
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return { messages: error.code === 'commander.help' ? [] : [message], exitCode: 2 };
}

/** One line for each problem. */
export function messagesOf(error: unknown, config: Config | undefined): string[] {
  if (error instanceof Refusal) return [error.message];
  // The detail of `busy` is for clients of the service, which cannot do anything about the reason.
  if (error instanceof Problem && error.code === 'busy' && error.cause instanceof Error) return [error.cause.message];
  return error instanceof Problem
    ? [refusalText(error) ?? translateProblem('en', error).detail]
    : explainFailure(error, config).map((line) => line.replace(/^- /, ''));
}
