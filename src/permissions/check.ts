/** Answers questions about permissions on one snapshot of the database, which no question changes. */
import { sql } from 'kysely';
import { exceededStatementTime, lacksRelation } from '../database/failure.ts';
import type { Statements } from '../database/port.ts';
import { inRounds } from '../entities/writing/rounds.ts';
import type { EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../problems/errors.ts';
import { pointerTo } from '../problems/pointer.ts';
import type { Fault } from '../problems/faults.ts';
import { allActions, type Action } from '../rights/vocabulary.ts';
import type { DecisionView, EntityQuestion } from './decide.ts';

/** The most milliseconds of a statement. */
const statementMs = 2_000;

export interface Snapshots {
  store: Pick<Statements, 'db'>;
  types: EntityTypes;
  /** The most bytes of an entity. */
  limitBytes: number;
}

/** Runs `work` on a snapshot. Throws 503 `busy` if a statement takes too long. */
export async function onSnapshot<T>({ store, types, limitBytes }: Snapshots, work: (view: DecisionView) => Promise<T>): Promise<T> {
  const snapshot = () =>
    store.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (trx) => {
        await sql`set local statement_timeout = ${sql.lit(statementMs)}`.execute(trx);
        return { value: await work({ trx, types: types.within(trx), limitBytes }) };
      });
  const { value } = await inRounds(async () => {
    try {
      return await snapshot();
    } catch (error) {
      if (exceededStatementTime(error)) throw new Problem('busy', { headers: { 'Retry-After': '2' }, cause: error });
      if (!lacksRelation(error)) throw error;
      // The type has changed since the process looked at it.
      types.forget();
      return undefined;
    }
  });
  return value;
}

/** A question as it is asked; without an action it is about all. */
export type WantedQuestion = Omit<EntityQuestion, 'action'> & { action?: Action | undefined };

/** The questions of a wanted one. Throws 422 `validation-failed` for a member that the action does not take, or lacks. */
export function questionsOf({ action, key, set, entity }: WantedQuestion): EntityQuestion[] {
  const faults: Fault[] = [];
  const require = (name: string) => faults.push({ pointer: pointerTo([name]), code: 'required' });
  const refuse = (name: string) => faults.push({ pointer: pointerTo([name]), code: 'conflicting' });
  if (set && action === undefined) require('action');
  if (set && action !== undefined && action !== 'create' && action !== 'update') refuse('set');
  if (set && action === 'update' && key === undefined) require('key');
  if (key !== undefined && action !== undefined && isOfName(action)) refuse('key');
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
  const actions = action === undefined ? allActions : [action];
  return actions.map((each) => ({ entity, action: each, key: isOfName(each) ? undefined : key, set }));
}

/** Whether the action is about no entity that exists. */
const isOfName = (action: Action): boolean => action === 'create' || action === 'type';
