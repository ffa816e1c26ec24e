/**
 * The rows of `login_attempt`: how often signing in to an account, or from an address, has failed. The limits and the clock are the
 * database's (`begin_login_attempt`); when to ask again and what to tell the caller is decided in `throttle.ts`.
 */
import { createHmac } from 'node:crypto';
import { sql, type Kysely, type OperationNodeSource } from 'kysely';
import { builder, compileOnce } from '../database/driver/prepared.ts';
import type { Database } from '../database/tables.ts';
import { addressGroup } from '../http/address.ts';
import { normaliseUserName } from '../user-name.ts';
import { accounts, type Account } from '../accounts/users.ts';

/** The keys of the two rows an attempt is counted in. */
export interface Subjects {
  account: Buffer;
  address: Buffer;
}

export type Verdict =
  | { verdict: 'go'; retry_seconds: null }
  | { verdict: 'full'; retry_seconds: null }
  | { verdict: 'account'; retry_seconds: number }
  | { verdict: 'address'; retry_seconds: number };

export type Outcome = 'succeeded' | 'failed' | 'abandoned';

/** The key that hides names and addresses from a reader of the table; made by the migration, the same for all processes. */
export async function getAttemptKey(db: Kysely<Database>): Promise<Buffer> {
  const row = await db.selectFrom('service_secret').select('value').where('name', '=', 'login-attempt').executeTakeFirstOrThrow();
  return row.value;
}

/**
 * An account is keyed by its name whether or not it exists (rule 39), so being throttled tells nothing. What cannot be a name is keyed
 * by its own text.
 */
export function subjectsOf(key: Buffer, name: string, address: string): Subjects {
  const subject = (kind: string, text: string) => createHmac('sha256', key).update(`${kind}\0${text}`).digest();
  const canonical = normaliseUserName(name);
  return {
    account: canonical === undefined ? subject('no-account', name) : subject('account', canonical),
    address: subject('address', addressGroup(address)),
  };
}

/** As a table of a statement: its transaction is committed without waiting for the disk. */
const withoutWait = sql`set_config('synchronous_commit', 'off', true)`;

const begin = compileOnce<Subjects & { name: string | undefined }, Verdict & { [Column in keyof Account]: Account[Column] | null }>(
  (value) =>
    sql<Verdict & Account>`
    select verdict, retry_seconds, account.*
    from begin_login_attempt(${value('account')}, ${value('address')})
    cross join ${withoutWait}
    left join (${accounts(builder)}) as account on account.name = ${value('name')}`.compile(builder),
);

/**
 * Counts the attempt, unless there are too many; after `go` an `endAttempt` must follow. The account that is called `name` comes along. It does
 * not wait for the disk: nobody is told anything before a later statement has, with which this one is on it too.
 */
export async function beginAttempt(
  db: Kysely<Database>,
  subjects: Subjects,
  name: string,
): Promise<{ verdict: Verdict; account: Account | undefined }> {
  const { rows } = await db.executeQuery(begin({ ...subjects, name: normaliseUserName(name) }));
  const [row] = rows;
  if (!row) throw new Error('begin_login_attempt has no answer');
  return { verdict: row, account: row.id === null ? undefined : (row as Account) };
}

/**
 * Decides a counted attempt, and returns how often in a row the account has failed now (0 when an administrator has just reset it). Only a
 * failure waits for the disk: what a crash of the server takes of the other outcomes leaves a failure too many. `beside` is a further
 * statement of its transaction.
 */
export async function endAttempt(
  db: Kysely<Database>,
  { account, address }: Subjects,
  outcome: Outcome,
  beside?: OperationNodeSource,
): Promise<number> {
  const { rows } = await sql<{ failures: number | null }>`
    ${beside ? sql`with beside as (${beside})` : sql``}
    select end_login_attempt(${account}, ${address}, ${outcome}) as failures
    ${outcome === 'failed' ? sql`` : sql`from ${withoutWait}`}`.execute(db);
  return rows[0]?.failures ?? 0;
}

/** Lets an account sign in again at once, whatever happened before. False when it was not throttled. Addresses stay as they are. */
export async function resetAttempts(db: Kysely<Database>, name: string): Promise<boolean> {
  const { account } = subjectsOf(await getAttemptKey(db), name, '');
  const row = await db
    .updateTable('login_attempt')
    .set({ failures: 0, blocked_until: null })
    .where('kind', '=', 'account')
    .where('subject', '=', account)
    .where('failures', '>', 0)
    .returning('failures')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Deletes up to `limit` rows that no longer say anything: addresses after their five minutes, accounts without failures, and accounts left
 * alone for 30 days (names that never existed, mostly). One with a hundred failures stays until an administrator resets it.
 * Returns how many were deleted.
 */
export async function deleteIdleAttempts(db: Kysely<Database>, limit: number): Promise<number> {
  const result = await sql`
    delete from login_attempt where ctid in (
      select ctid from login_attempt
      where (last_at < now() - interval '1 hour' and (kind = 'address' or failures + pending = 0))
         or (last_at < now() - interval '30 days' and failures < 100)
      limit ${limit} for update skip locked)`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}
