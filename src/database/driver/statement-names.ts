/**
 * Names of prepared statements. PostgreSQL parses and plans a named statement a few times on each connection, an unnamed one every time
 * (docs/performance.md). Only statements of `prepare` have names, and a few of those that are built for one request. So a connection holds
 * the statements of the code, those of the companion tables that it has written, and these few.
 */
import { RepeatedStatements } from './repeated-statements.ts';

/** With false every statement is sent unnamed. */
const namesAreSent = true;
const repeated = new RepeatedStatements();
const names = new Map<string, string>();
const texts = new Map<string, string>();

/** Gives the statement a name. Throws an Error when another statement has it, because PostgreSQL would run that one. */
export function registerName(name: string, text: string): void {
  if ((texts.get(name) ?? text) !== text) throw new Error(`two prepared statements are called ${name}`);
  texts.set(name, text);
  if (namesAreSent) names.set(text, name);
}

/** The name under which a connection prepares `text`; undefined for a statement that is not prepared. */
export function nameOf(text: string): string | undefined {
  return names.get(text);
}

/** The name of a statement that is made while the process runs. This module does not store it, so it takes no memory after its use. */
export function nameOfVariant(name: string, variant: string): string | undefined {
  return namesAreSent ? `${name}.${variant}` : undefined;
}

/** The name of a statement that is built for one request, if it comes again; see {@link RepeatedStatements}. */
export function nameOfRepeated(text: string): string | undefined {
  return namesAreSent ? repeated.nameOf(text) : undefined;
}

/** All prepared statements, the texts by their names. */
export function preparedStatements(): ReadonlyMap<string, string> {
  return texts;
}
