/**
 * Writes that take effect once although they are sent again (security rule 79). The write, what goes along with it, and its Idempotency-Key are one
 * transaction, so a repeat finds the key, or nothing of the write.
 */
import type { Caller } from '../../authn/caller.ts';
import { statementsWithin } from '../../database/statements-within.ts';
import type { Action } from '../../rights/vocabulary.ts';
import { isRefusal } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { namingConflict } from './conflict-name.ts';
import { inRounds } from './rounds.ts';
import { admissionWithin, TurnNeededError, type WriteTurn } from '../idempotency/turns.ts';
import { claimKey, inProgress, storeEffects, type Claim, type Effect } from '../idempotency/idempotency.ts';
import type { Writes } from './update.ts';

/** A lost round means that another request took the key meanwhile, or that the transaction needs another turn. */
const rounds = 5;

/** Ends a transaction whose key another request has taken meanwhile. */
class KeyTaken extends Error {}

export interface RepeatableWrite<T> {
  /** Undefined without an Idempotency-Key: then `write` runs with the given `writes`. */
  claim: Claim | undefined;
  isHeavy: boolean;
  /** Whether the write is an update, whose patch may be heavy; by default it is not. */
  isPatch?: boolean;
  write: (writes: Writes) => Promise<T>;
  /** What is stored of the outcome. */
  effectsOf: (outcome: T) => readonly Effect[];
  /** The outcome again. It must need no turn. */
  replay: (effects: readonly Effect[], writes: Writes) => Promise<T>;
}

export interface OnceDone<T> {
  outcome: T;
  /** Whether an earlier request did it, and this one only says so once more. */
  isReplayed: boolean;
}

/**
 * Runs the write unless a request with the same key has within 24 hours, and returns the outcome. Throws what `write` and `replay` throw, 422
 * `idempotency-key-reused` if that request was another one, and 409 `idempotency-in-progress` while it is under way.
 */
export function writeOnce<T>(writes: Writes, permit: Permit<Action>, caller: Caller, request: RepeatableWrite<T>): Promise<OnceDone<T>> {
  return namingConflict(writes.store, () => writeUnlessDone(writes, permit, caller, request));
}

async function writeUnlessDone<T>(
  writes: Writes,
  permit: Permit<Action>,
  caller: Caller,
  { claim, isHeavy, isPatch = false, write, effectsOf, replay }: RepeatableWrite<T>,
): Promise<OnceDone<T>> {
  if (!claim) return { outcome: await write(writes), isReplayed: false };
  let turn: WriteTurn = !isHeavy ? 'keyed-write' : isPatch ? 'heavy-patch' : 'heavy-write';
  const attempt = () =>
    writes.store.transaction(async (trx) => {
      const within: Writes = { store: statementsWithin(trx), admission: admissionWithin(turn), types: writes.types.within(trx) };
      const effects = await claimKey(trx, claim);
      if (effects) return { outcome: await replay(effects, within), isReplayed: true };
      const outcome = await write(within).catch(async (error: unknown) => {
        // The first request may have been committed after the snapshot of the statement that did not find its key. Then its effect may be what is refused here.
        if (isRefusal(error) && (await claimKey(trx, claim))) throw new KeyTaken();
        throw error;
      });
      if (!(await storeEffects(trx, claim, effectsOf(outcome)))) throw new KeyTaken();
      return { outcome, isReplayed: false };
    });
  const round = async () => {
    try {
      return await writes.admission.run(turn, { flow: permit.userName, caller }, attempt);
    } catch (error) {
      if (error instanceof TurnNeededError) ({ turn } = error);
      else if (!(error instanceof KeyTaken)) throw error;
      return undefined;
    }
  };
  return await inRounds(round, rounds, inProgress);
}
