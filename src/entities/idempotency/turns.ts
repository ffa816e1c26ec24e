/** The turns of writes, and those in a transaction that has one already. */
import type { Admission } from '../../admission/admission.ts';
import type { ClassName } from '../../admission/classes.ts';

/** The classes in which a transaction with an Idempotency-Key may run. */
export type WriteTurn = 'keyed-write' | 'contended-write' | 'heavy-write' | 'heavy-patch';

/** The admission of writes, in a transaction or outside of one. */
export type WriteAdmission = Pick<Admission, 'run'>;

/** Ends a transaction that is to run again in a turn of its own kind: it must not wait for that while it has a connection and locks. */
export class TurnNeededError extends Error {
  readonly turn: WriteTurn;
  constructor(turn: WriteTurn) {
    super(`the transaction needs the turn of a ${turn}`);
    this.turn = turn;
  }
}

/** The turns of a transaction in which a job of each class runs at once. Jobs of other classes do so in each. */
const turnsFor: Partial<Record<ClassName, readonly WriteTurn[]>> = {
  'contended-write': ['contended-write', 'heavy-write', 'heavy-patch'],
  'heavy-write': ['heavy-write', 'heavy-patch'],
  'heavy-patch': ['heavy-write', 'heavy-patch'],
};

/** Admits the jobs in a transaction that has `turn`. Throws {@link TurnNeededError} if it needs another one. */
export function admissionWithin(turn: WriteTurn): WriteAdmission {
  return {
    run: async (name, _origin, job) => {
      if (turnsFor[name]?.includes(turn) === false) throw new TurnNeededError(name as WriteTurn);
      return await job();
    },
  };
}
