/** The pending sign-ins at providers. States and browser cookies are stored as hashes only. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';

export interface NewTransaction {
  stateHash: Buffer;
  browserHash: Buffer;
  issuer: string;
  nonce: string;
  codeVerifier: string;
  returnPath: string;
  /** The session whose user links an identity; undefined for a sign-in. */
  sessionId: string | undefined;
}

export interface SignInTransaction extends Omit<NewTransaction, 'stateHash' | 'sessionId'> {
  sessionId: string | null;
  /** Whether it was begun less than ten minutes ago, by the database's clock. */
  live: boolean;
  /** Whether the same browser has another live transaction. */
  others: boolean;
}

/** Stores a transaction. It is valid for ten minutes. */
export async function insertTransaction(db: Kysely<Database>, transaction: NewTransaction): Promise<void> {
  await db
    .insertInto('openid_transaction')
    .values({
      state_hash: transaction.stateHash,
      browser_hash: transaction.browserHash,
      issuer: transaction.issuer,
      nonce: transaction.nonce,
      code_verifier: transaction.codeVerifier,
      return_path: transaction.returnPath,
      session_id: transaction.sessionId ?? null,
    })
    .execute();
}

/**
 * Deletes and returns the transaction with this state; undefined if there is none. So only the first of several answers with the state
 * finds it.
 */
export function consumeTransactionRow(db: Kysely<Database>, stateHash: Buffer): Promise<SignInTransaction | undefined> {
  return db
    .deleteFrom('openid_transaction')
    .where('state_hash', '=', stateHash)
    .returning([
      'browser_hash as browserHash',
      'issuer',
      'nonce',
      'code_verifier as codeVerifier',
      'return_path as returnPath',
      'session_id as sessionId',
      sql<boolean>`expires_at > now()`.as('live'),
      sql<boolean>`exists (
        select from openid_transaction other
        where other.browser_hash = openid_transaction.browser_hash and other.state_hash <> openid_transaction.state_hash
          and other.expires_at > now()
      )`.as('others'),
    ])
    .executeTakeFirst();
}

/** Deletes up to `limit` expired transactions; returns their number. Replicas do not wait for each other. */
export async function deleteExpiredTransactions(db: Kysely<Database>, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('openid_transaction')
    .where('state_hash', 'in', (eb) =>
      eb
        .selectFrom('openid_transaction')
        .where('expires_at', '<=', sql<Date>`now()`)
        .select('state_hash')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
