/** The frame of a measuring script: a database for it alone, its figures on standard output, and everything closed in the end. */
import { databaseOn, embeddedDatabase, type BenchDatabase } from './database.ts';

/** What a measurement works with. */
export interface Measured {
  /** A new database, or the one of an earlier run. */
  url: string;
  database: BenchDatabase;
  /** Closed in the end, in the opposite order. */
  opened: AsyncDisposableStack;
}

/** Tells a person on standard error what is being done. */
export const note = (text: string) => process.stderr.write(`${text}\n`);

/**
 * Runs `measure` on a database of its own, on the server of DATABASE_URL or on an embedded one, and prints what it returns. After a failure it
 * prints the reason with the script's `name`, and the process exits with 1. A `directory` stays with its embedded database, for further runs.
 */
export async function runMeasurement(name: string, measure: (measured: Measured) => Promise<string>, directory?: string): Promise<void> {
  await using opened = new AsyncDisposableStack();
  try {
    const given = process.env['DATABASE_URL'];
    const database = given ? await databaseOn(given) : await embeddedDatabase(directory);
    opened.defer(() => database.remove());
    process.stdout.write(await measure({ url: await database.open(), database, opened }));
  } catch (error) {
    note(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
