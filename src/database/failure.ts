/**
 * What a failed statement means for the caller (security rules 76 and 77): a dependency that is down is 503, never 500; a write whose
 * connection broke may or may not have happened, and says so.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { DatabaseError } from 'pg';
import { Problem } from '../problems/errors.ts';
import type { Database } from './tables.ts';
import { PasswordFileError, UntrustedServerError } from './driver/verified-client.ts';

/** Connections, room, intervention by the operator, and whom the server lets in; 58 is its disks. */
const outageClasses = new Set(['08', '28', '53', '57', '58']);
/**
 * A lock not had in time, a standby that was no longer the primary, a transaction that was idle or open too long, a database that is gone, and a prepared
 * statement that a pooler has lost or given to another connection.
 */
const outageStates = new Set(['55P03', '25006', '25P03', '25P04', '3D000', '26000', '42P05']);
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);
/** Not the network, and yet no fault of the statement: names that cannot be resolved now, no ports or files left. */
const resourceCodes = new Set(['EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE']);
/** The connection was there and is no more; the last two are what the server says that ends it. */
const lostCodes = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02']);
/** Errors of pg that carry no code; `SASL` where the server fails its part of signing in. It says `Query read timeout` where it looks after the time itself, which the address may ask for. */
const codelessOutage =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|Query read timeout|Client was closed|^SASL: /;
const retriable = new Set(['40001', '40P01']);
/** The disk is full, or fails. */
const diskStates = new Set(['53100', '58030']);
/** Constraints, lost races, room, locks, and time: what a connection has nothing to do with. */
const harmless = /^(?:23|40|53|55)|^57014$/;

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Whether `error` says that the database cannot serve now: out of reach, shutting down, out of room, too slow, or not proved to be ours. */
export function isOutage(error: unknown): boolean {
  if (error instanceof ServerUnresponsiveError || error instanceof UntrustedServerError || error instanceof PasswordFileError) return true;
  if (error instanceof LockNotHadError) return true;
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error && codelessOutage.test(error.message);
  if (networkCodes.has(code) || resourceCodes.has(code) || isOfConnecting(error)) return true;
  // A transaction that was rolled back again and again (40001, 40P01) has lost to load.
  return error instanceof DatabaseError && (outageClasses.has(code.slice(0, 2)) || outageStates.has(code) || retriable.has(code));
}

/** Whether there was no connection, whatever the reason. The socket of a server that does not run is not there, for example (ENOENT). */
function isOfConnecting(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

/** What failed at the address without a pooler, DATABASE_DIRECT_URL if that is set; `cause` is the failure. */
export class DirectAddressError extends Error {
  override readonly name = 'DirectAddressError';
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The server has sent nothing for longer than it lets a statement run. */
export class ServerUnresponsiveError extends Error {
  override readonly name = 'ServerUnresponsiveError';
}

/** What a grouped write throws, with nothing written, when another transaction has a lock that the row needs; `cause` is what PostgreSQL says. */
export class LockNotHadError extends Error {
  override readonly name = 'LockNotHadError';
  constructor(cause: unknown) {
    super('another transaction has a lock that the row needs', { cause });
  }
}

/** Whether the connection on which the statement failed is as good as before. */
export function connectionStaysUsable(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === 'ERROR' && harmless.test(error.code ?? '');
}

/**
 * Whether the connection broke under a statement, so that the outcome is unknown. A server that is told to end a connection, or has
 * crashed, says so also when the statement was committed already. A server that cannot write its log says so and then crashes.
 */
export function connectionWasLost(error: unknown): boolean {
  if (error instanceof ServerUnresponsiveError) return true;
  const code = codeOf(error);
  if (code === undefined)
    return error instanceof Error && /^(Connection terminated( unexpectedly)?|Query read timeout)$/.test(error.message);
  if (lostCodes.has(code)) return true;
  if (!(error instanceof DatabaseError)) return false;
  // The word for an error that only undoes its statement is another one where the server speaks another language; then the outcome counts as unknown.
  return code.startsWith('08') || (diskStates.has(code) && error.severity !== 'ERROR');
}

/** Whether a lock was not had within `lock_timeout`. */
export function lockWasNotHad(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** Whether a table or a column of the statement does not exist. */
export function lacksRelation(error: unknown): boolean {
  return ['42P01', '42703'].includes(codeOf(error) ?? '');
}

/** Whether PostgreSQL refused a value of the statement, such as the name of a time zone. */
export function refusedValue(error: unknown): boolean {
  return codeOf(error) === '22023';
}

/** The `constraint` that a unique violation names, or undefined for any other error. */
export function violatedUnique(error: unknown): string | undefined {
  return error instanceof DatabaseError && error.code === '23505' ? error.constraint : undefined;
}

/**
 * Whether PostgreSQL ended the statement because it took too long. It has one code for that and for an operator's cancel, and only the
 * message tells them apart. If the server speaks another language, both count as too long.
 */
export function exceededStatementTime(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '57014' && !error.message.includes('user request');
}

/** The 503 for an outage; `Retry-After` is a guess at how long a database takes to come back. */
export function outageProblem(cause: unknown): Problem {
  return new Problem('unavailable', { headers: { 'Retry-After': '2' }, cause });
}

/**
 * Awaits a single writing statement. A connection that breaks while it runs becomes 503 `outcome-unknown`; all other errors pass.
 */
export async function withUnknownOutcome<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (connectionWasLost(error)) throw new Problem('outcome-unknown', { headers: { 'Retry-After': '2' }, cause: error });
    throw error;
  }
}

/**
 * Runs `work`, a part of a change of which another part is committed already, or will be once `isCommitted`. Its 503 then becomes `outcome-unknown`, since all
 * other 503s say that nothing was changed (rule 77).
 */
export async function afterCommittedPart<T>(work: () => Promise<T>, isCommitted = () => true): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isUnavailable = isOutage(error) || (error instanceof Problem && error.status === 503);
    if (!isUnavailable || !isCommitted() || (error instanceof Problem && error.code === 'outcome-unknown')) throw error;
    throw new Problem('outcome-unknown', { headers: { 'Retry-After': '2' }, cause: error });
  }
}

/** Awaits a statement that only notes something in passing. Where the disk is full it is left out, so that what it goes with is still served. */
export async function ignoreDiskFull(statement: Promise<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    if (codeOf(error) !== '53100' || connectionWasLost(error)) throw error;
  }
}

/**
 * Runs `work` in one READ COMMITTED transaction and returns once COMMIT has. A deadlock or serialisation failure is tried again up to
 * three times, so `work` must have no effect outside the transaction. A connection lost during COMMIT is 503 `outcome-unknown`.
 */
export function inTransaction<T>(db: Kysely<Database>, work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
  return retryOnConflict(async () => {
    let committing = false;
    try {
      return await db.transaction().execute(async (trx) => {
        committing = false;
        const result = await work(trx);
        committing = true;
        return result;
      });
    } catch (error) {
      // Whatever it is by now: Kysely throws what its ROLLBACK met instead of what broke the COMMIT.
      if (committing && isOutage(error) && !isRetriable(error))
        throw new Problem('outcome-unknown', { headers: { 'Retry-After': '2' }, cause: error });
      throw error;
    }
  });
}

/** Runs `work`, which is one transaction, again after a deadlock or serialisation failure has undone it, up to three times (rule 76). */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetriable(error) || attempt > 3) throw error;
      await delay(Math.random() * 20 * attempt);
    }
  }
}

function isRetriable(error: unknown): boolean {
  return retriable.has(codeOf(error) ?? '');
}
