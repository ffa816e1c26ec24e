/** The encoding of a database: with any other than UTF8, PostgreSQL refuses texts, or stores bytes that it does not check. */

/** What is wrong with an encoding, and what to do, as the end of a sentence about the database; undefined for UTF8. */
export function encodingAdvice(encoding: string): string | undefined {
  return encoding === 'UTF8'
    ? undefined
    : `has the encoding ${encoding}, which cannot hold every text: create a database for the service with "create database NAME owner ROLE encoding 'UTF8' template template0", as in docs/own-database.md`;
}
