/**
 * Tells what costs the database much from what costs little. Small entities and patches share statements and connections with those of other callers. A larger
 * one goes alone over the pool, in a place of the heavy classes of `admission/classes.ts` (rule 70, decision 68).
 */
import { sql, type RawBuilder } from 'kysely';
import { expansionOf } from './stored-size.ts';

/** A body with more objects is heavy: PostgreSQL merges up to 20 µs for each. */
const maximumObjects = 100;
/** A body of more characters, with numbers written out, or an entity of more bytes is heavy: PostgreSQL writes 16 KiB in 1 to 2 ms, and the rows of a statement wait for each other. */
const maximumSize = 16_384;
/** An entity of more compressed bytes is heavy. PostgreSQL knows this size without decompressing; the text can be 90 times as long. */
const maximumStoredBytes = 8_192;

/** Bytes of an entity beyond which reading it is heavy, and of what is stored of it: PostgreSQL reads 64 KiB in about 2 ms. */
const readLimits = { size: 65_536, storedBytes: 32_768 };
const writeLimits = { size: maximumSize, storedBytes: maximumStoredBytes };

/** Whether merging or storing the body, JSON text, may cost more than other callers should wait for. Counts numbers as they are stored, and the braces in texts too. */
export function isHeavy(body: string): boolean {
  return body.length + expansionOf(body) > maximumSize || body.split('{', maximumObjects + 2).length > maximumObjects + 1;
}

/** SQL: whether `fields`, a column, are not heavy to merge into. */
export function areLight(fields: RawBuilder<unknown>): RawBuilder<boolean> {
  return areWithin(writeLimits, fields);
}

/** SQL: whether `fields`, a column, are not heavy to read. */
export function areLightToRead(fields: RawBuilder<unknown>): RawBuilder<boolean> {
  return areWithin(readLimits, fields);
}

const areWithin = ({ size, storedBytes }: typeof readLimits, fields: RawBuilder<unknown>) =>
  sql<boolean>`case when pg_column_size(${fields}) > ${sql.lit(storedBytes)} then false
    else pg_column_size(${fields} || '{}') <= ${sql.lit(size)} end`;
