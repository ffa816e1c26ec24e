/**
 * Limits failed attempts at passwords (rules 39 to 41). The database counts them for all processes together. In each process attempts wait
 * in queues and proceed in order of arrival; waiting ones cost the database nothing. The function that an attempt runs verifies the
 * password.
 */
import type { Kysely, OperationNodeSource } from 'kysely';
import type { ServiceSecrets } from '../database/service-secrets.ts';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import type { Account } from '../accounts/users.ts';
import { attemptKeyOf, beginAttempt, endAttempt, subjectsOf, type Subjects } from './attempts.ts';
import type { Admission } from '../admission/admission.ts';
import { busyProblem, rateLimitProblem } from '../admission/refusals.ts';

/**
 * While attempts of other processes (about 30 ms each) fill the limit, this process retries: the interval, and the maximum number of
 * retries.
 */
const retryIntervalMs = 25;
const maximumTries = 80;

export interface AttemptClaim {
  /** As typed. The user may not exist, and the text may be no valid name. */
  name: string;
  /** The client's IP address. */
  address: string;
}

/** How attempts ended. Without a comparison of the password: `throttled`, `busy` (the queue was full or the wait too long), and `error`. */
const outcomes = ['succeeded', 'failed', 'throttled', 'busy', 'error'] as const;
export type ThrottleOutcome = (typeof outcomes)[number];

/** An attempt that has been counted and awaits its outcome. */
export interface Attempt {
  /** The account of the attempt; undefined if there is none of that name. */
  readonly account: Account | undefined;
  /**
   * Returns the rows of the attempt for the last statement of `evaluate`. That statement, together with its other effects, decides the
   * attempt as good (`end_login_attempt`), or it does nothing. `evaluate` then returns a value only if the statement was committed.
   */
  readonly handOver: () => Subjects;
  /** The statement runs in the transaction that counts the attempt as failed, if the attempt fails. */
  readonly onFailure: (statement: OperationNodeSource) => void;
}

export interface Throttle {
  /** The number of attempts that ended with each outcome in this process. */
  readonly outcomes: Readonly<Record<ThrottleOutcome, number>>;
  /**
   * Counts an attempt, then runs `evaluate`, which verifies the password and returns a value for a good attempt, else undefined. A value
   * resets the account's count; undefined counts as one more failure. If `evaluate` throws, the attempt is not counted, unless a statement
   * that may have decided it has an unknown outcome.
   *
   * `failures` is the number of failures of the account in a row; at `failuresUntilLocked` only an administrator can unlock it. Throws
   * `rate-limited` with Retry-After, without running `evaluate`, while the account or the address is throttled. Throws `busy` if too many
   * attempts wait, and the errors of the database. Do not call it inside a transaction.
   */
  attempt<T>(
    claim: AttemptClaim,
    evaluate: (attempt: Attempt) => Promise<T | undefined>,
  ): Promise<{ granted: T | undefined; failures: number }>;
}

/** After this number of failures in a row, password login is disabled until `unlock` (rule 39). */
export const failuresUntilLocked = 100;

/** Creates the throttle of a process. */
export function createThrottle(db: Kysely<Database>, secrets: ServiceSecrets, admission: Admission): Throttle {
  const ended = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<ThrottleOutcome, number>;

  /** Resolves with the account when the attempt is counted. If an attempt is throttled, those that wait behind it are refused at once. */
  const count = async (name: string, subjects: Subjects, flows: Record<'account' | 'address', string>) => {
    for (let tries = 0; tries < maximumTries; tries += 1) {
      const begun = await beginAttempt(db, subjects, name);
      const { verdict, retry_seconds: seconds } = begun.verdict;
      if (verdict === 'go') return begun.account;
      if (verdict === 'full') await new Promise<void>((resolve) => admission.schedule(retryIntervalMs, resolve));
      else {
        admission.queueOf(`sign-in-${verdict}`).rejectWaiting(flows[verdict], () => tooMany(verdict, seconds));
        throw tooMany(verdict, seconds);
      }
    }
    throw busyProblem();
  };

  const attempt: Throttle['attempt'] = async ({ name, address }, evaluate) => {
    const subjects = subjectsOf(attemptKeyOf(await secrets.current()), name, address);
    const flows = { account: subjects.account.toString('base64'), address: subjects.address.toString('base64') };
    return admission.run('sign-in-account', { flow: flows.account }, () =>
      admission.run('sign-in-address', { flow: flows.address }, async () => {
        const account = await count(name, subjects, flows);
        return await decide(db, subjects, account, evaluate);
      }),
    );
  };

  return {
    outcomes: ended,
    async attempt(claim, evaluate) {
      try {
        const result = await attempt(claim, evaluate);
        ended[result.granted === undefined ? 'failed' : 'succeeded'] += 1;
        return result;
      } catch (error) {
        ended[outcomeOf(error)] += 1;
        throw error;
      }
    },
  };
}

/** Runs `evaluate` on an attempt that has been counted, and decides the attempt. */
async function decide<T>(
  db: Kysely<Database>,
  subjects: Subjects,
  account: Account | undefined,
  evaluate: (attempt: Attempt) => Promise<T | undefined>,
): Promise<{ granted: T | undefined; failures: number }> {
  let handedOver = false;
  const handOver = () => {
    handedOver = true;
    return subjects;
  };
  let beside: OperationNodeSource | undefined;
  const onFailure = (statement: OperationNodeSource) => {
    beside = statement;
  };
  let granted;
  try {
    granted = await evaluate({ account, handOver, onFailure });
  } catch (error) {
    // If this fails too, or the attempt may have been decided, the database counts it as a failure after its time limit.
    if (!handedOver || !isInDoubt(error)) await endAttempt(db, subjects, 'abandoned').catch(() => undefined);
    throw error;
  }
  if (handedOver && granted !== undefined) return { granted, failures: 0 };
  const failures = granted === undefined ? await endAttempt(db, subjects, 'failed', beside) : await endAttempt(db, subjects, 'succeeded');
  return { granted, failures };
}

function isInDoubt(error: unknown): boolean {
  return error instanceof Problem && error.code === 'outcome-unknown';
}

function outcomeOf(error: unknown): ThrottleOutcome {
  if (!(error instanceof Problem)) return 'error';
  return error.code === 'rate-limited' ? 'throttled' : error.code === 'busy' ? 'busy' : 'error';
}

const policies = { account: 'q=5', address: 'q=20;w=300' };

const tooMany = (limit: keyof typeof policies, seconds: number): Problem => rateLimitProblem(`login-${limit}`, policies[limit], seconds);
