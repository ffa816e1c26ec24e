/**
 * The rows of `login_attempt`: the number of failed sign-ins to an account and from an address. The database has the limits and the clock
 * (`begin_login_attempt`); `throttle.ts` decides when to retry and what the caller gets.
 */
import { createHmac } from 'node:crypto';
import { sql, type Kysely, type OperationNodeSource } from 'kysely';
import { builder, prepare } from '../database/driver/prepared.ts';
import { readServiceSecrets, secretNamed, type SecretValues } from '../database/service-secrets.ts';
import type { Database } from '../database/tables.ts';
import { addressGroup } from '../network/address.ts';
import { normaliseUserName } from '../user-name.ts';
import { selectAccounts, type Account } from '../accounts/users.ts';

/** The keys of the two rows in which an attempt is counted. */
export interface Subjects {
  account: Buffer;
  address: Buffer;
}

export type Verdict =
  | { verdict: 'go'; retry_seconds: null }
  | { verdict: 'full'; retry_seconds: null }
  | { verdict: 'account'; retry_seconds: number }
  | { verdict: 'address'; retry_seconds: number };

export type AttemptEnd = 'succeeded' | 'failed' | 'abandoned';

/** The HMAC key that hides names and addresses from readers of the table. All processes share it. */
export function attemptKeyOf(values: SecretValues): Buffer {
  return secretNamed(values, 'login-attempt');
}

/**
 * The key of an account is a hash of its name, whether or not the account exists (rule 39). So throttling does not reveal which names
 * exist. A text that cannot be a name is hashed as it is.
 */
export function subjectsOf(key: Buffer, name: string, address: string): Subjects {
  const subject = (kind: string, text: string) => createHmac('sha256', key).update(`${kind}\0${text}`).digest();
  const canonical = normaliseUserName(name);
  return {
    account: canonical === undefined ? subject('no-account', name) : subject('account', canonical),
    address: subject('address', addressGroup(address)),
  };
}

/** A table of a statement that lets its transaction commit without waiting for the disk. */
const withoutWait = sql`set_config('synchronous_commit', 'off', true)`;

const begin = prepare<Subjects & { name: string | undefined }, Verdict & { [Column in keyof Account]: Account[Column] | null }>(
  'login-attempt.begin',
  (value) =>
    sql<Verdict & Account>`
    select verdict, retry_seconds, account.*
    from begin_login_attempt(${value('account')}, ${value('address')})
    cross join ${withoutWait}
    left join (${selectAccounts(builder)}) as account on account.name = ${value('name')}`.compile(builder),
);

/**
 * Counts the attempt, unless there are too many; after `go` the caller must call `endAttempt`. Also returns the account called `name`. The
 * commit does not wait for the disk. No client gets an answer before a later statement has waited, which puts this one on disk too.
 */
export async function beginAttempt(
  db: Kysely<Database>,
  subjects: Subjects,
  name: string,
): Promise<{ verdict: Verdict; account: Account | undefined }> {
  const { rows } = await db.executeQuery(begin.query({ ...subjects, name: normaliseUserName(name) }));
  const [row] = rows;
  if (!row) throw new Error('begin_login_attempt returned no row');
  return { verdict: row, account: row.id === null ? undefined : (row as Account) };
}

/**
 * Decides a counted attempt, and returns the account's number of failures in a row (0 if its row is gone). Only a failure waits for the disk:
 * if a crash of the database server loses another outcome, one failure too many remains. `beside` is a further statement of the transaction.
 */
export async function endAttempt(
  db: Kysely<Database>,
  { account, address }: Subjects,
  outcome: AttemptEnd,
  beside?: OperationNodeSource,
): Promise<number> {
  const { rows } = await sql<{ failures: number | null }>`
    ${beside ? sql`with beside as (${beside})` : sql``}
    select end_login_attempt(${account}, ${address}, ${outcome}) as failures
    ${outcome === 'failed' ? sql`` : sql`from ${withoutWait}`}`.execute(db);
  return rows[0]?.failures ?? 0;
}

/** Ends the throttling of an account at once. False if it was not throttled. Addresses stay throttled. */
export async function resetAttempts(db: Kysely<Database>, name: string): Promise<boolean> {
  const { account } = subjectsOf(attemptKeyOf(await readServiceSecrets(db)), name, '');
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
 * Deletes up to `limit` rows without effect: addresses after their five minutes, accounts without failures, and accounts unused for 30 days
 * (mostly names that never existed). An account with a hundred failures stays until an administrator resets it. Returns the number of
 * deleted rows.
 */
export async function deleteIdleAttempts(db: Kysely<Database>, limit: number): Promise<number> {
  const result = await sql`
    with idle as materialized (
      select kind, subject from login_attempt
      where (last_at < now() - interval '1 hour' and (kind = 'address' or failures + pending = 0))
         or (last_at < now() - interval '30 days' and failures < 100)
      limit ${limit} for update skip locked
    )
    delete from login_attempt as attempt using idle where (attempt.kind, attempt.subject) = (idle.kind, idle.subject)`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}
