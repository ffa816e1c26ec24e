/** Runs the operations of a batch in one transaction. */
import { sql, type Transaction } from 'kysely';
import type { Statements } from '../database/port.ts';
import { statementsWithin } from '../database/statements-within.ts';
import type { Database } from '../database/tables.ts';
import type { Caller } from '../authn/caller.ts';
import { changeValues, type ChangeValues } from '../entities/writing/changed.ts';
import { executeWithin } from '../entities/writing/execute.ts';
import { judgeCreations } from '../entities/writing/judge.ts';
import type { Judgement } from '../entities/writing/judgement.ts';
import { checkMerge } from '../entities/writing/merge.ts';
import { lockablePlace } from '../entities/writing/lockable.ts';
import { Removal } from '../entities/writing/removal.ts';
import { StillReferencedError } from '../entities/writing/still-referenced.ts';
import { holdTypes, type Deleted } from '../entities/writing/removal-statements.ts';
import { refusalOf } from '../entities/writing/refusal.ts';
import { faultsOfReferences } from '../entities/writing/references.ts';
import type { EntityRow } from '../entities/row.ts';
import { lockInOrder, lockOne } from '../entities/writing/statements.ts';
import { busyProblem } from '../admission/refusals.ts';
import { inRounds } from '../entities/writing/rounds.ts';
import { guardOfVersion, lacksGuard, requireNoFaults, requirePrecondition, sizeProblem } from '../entities/writing/rules.ts';
import { TypeChanged } from '../entities/writing/type-guard.ts';
import { isStillReferenced } from '../entities/writing/violations.ts';
import { deletionOf } from '../entities/writing/write-statements.ts';
import type { EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../problems/errors.ts';
import { checkDeferredReferences } from './deferred-references.ts';
import { atOperation, inFields, type Create, type Delete, type Get, type BatchOperation, type Update } from './operations.ts';
import { findHeavy, findState, placeOf } from '../entities/find-entity.ts';

/** The outcome of an operation. */
export interface Done {
  status: 200 | 201 | 204;
  key: string;
  /** The entity afterwards; undefined after a deletion, and in a repeated answer if it cannot be given again. */
  row: EntityRow | undefined;
}

export interface BatchRules {
  types: EntityTypes;
  /** The most bytes that the merged fields of an update may have as JSON. */
  limitBytes: number;
  /**
   * Whether an operation refers to a later one, or several delete entities that may refer to each other: PostgreSQL checks references at
   * the end.
   */
  defersReferences: boolean;
  /** By name, the keys of entities that the batch deletes, so that none of them keeps another one from being deleted. */
  deleted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The keys of entities that the batch creates, to which it may refer. */
  created: ReadonlySet<string>;
}

/** Other entities refer to the one that an operation deletes. */
export class Blocked extends Error {
  readonly index: number;
  override readonly cause: StillReferencedError;
  constructor(index: number, cause: StillReferencedError) {
    super('an operation deletes an entity that others refer to');
    this.index = index;
    this.cause = cause;
  }
}

/** Time limit of the locks: no operation begins later, and no statement lasts longer. */
const maximumMs = 5_000;
/** The most bytes of the entities in an answer. */
export const maximumBytes = 8_388_608;

/**
 * Runs the operations in their order and returns what each did. Throws the first refusal, placed in the batch, and {@link TypeChanged}.
 */
export async function runOperations(
  trx: Transaction<Database>,
  caller: Caller,
  operations: readonly BatchOperation[],
  rules: BatchRules,
): Promise<Done[]> {
  const run = new BatchRun(trx, caller, rules);
  const end = performance.now() + maximumMs;
  await sql`set local statement_timeout = ${sql.lit(maximumMs)}`.execute(trx);
  let bytes = 0;
  if (rules.defersReferences) await sql`set constraints all deferred`.execute(trx);
  const places = operations.flatMap((operation) =>
    operation.op === 'update' || operation.op === 'delete' ? { ...operation.permit, key: operation.key } : [],
  );
  if (places.length > 1) await lockInOrder(places).execute(trx);
  const done: Done[] = [];
  while (done.length < operations.length) {
    if (caller.hasLeft) throw new Problem('malformed-request');
    if (performance.now() > end) throw busyProblem();
    const before = done.length;
    const creates = createsFrom(operations, done.length);
    const [operation] = operations.slice(done.length);
    if (creates.length > 0) done.push(...(await run.create(creates)));
    else if (operation) done.push(await atOperation(operation.index, () => run.one(operation)));
    for (const { row } of done.slice(before)) bytes += row ? Buffer.byteLength(row.fields) : 0;
    if (bytes > maximumBytes) throw sizeProblem(maximumBytes);
  }
  if (rules.defersReferences) await checkDeferredReferences(trx, operations);
  return done;
}

/** The creates of one name that follow each other from `start` on: one statement writes them. */
function createsFrom(operations: readonly BatchOperation[], start: number): Create[] {
  const creates: Create[] = [];
  for (const operation of operations.slice(start)) {
    if (operation.op !== 'create' || operation.name !== (creates[0] ?? operation).name) break;
    creates.push(operation);
  }
  return creates;
}

class BatchRun {
  readonly #trx: Transaction<Database>;
  readonly #caller: Caller;
  readonly #rules: BatchRules;
  /** Statements whose failure ends the transaction, so that they need no savepoint. */
  readonly #store: Pick<Statements, 'run' | 'read'>;

  constructor(trx: Transaction<Database>, caller: Caller, rules: BatchRules) {
    this.#trx = trx;
    const store = statementsWithin(trx);
    const read: Statements['read'] = (statement, values) => store.read(statement, values);
    this.#store = { run: read, read };
    this.#caller = caller;
    this.#rules = rules;
  }

  /** Creates of one name, in one statement. If a rule of the type does not hold, they run again one by one, to find the one to blame. */
  async create(creates: readonly Create[]): Promise<Done[]> {
    const [first] = creates;
    if (!first) return [];
    if (creates.length === 1) return await atOperation(first.index, () => this.#insert(creates));
    // No rule of a type refuses them, and a refusal by rights has its place.
    if (!first.checked.companion) return await this.#insert(creates);
    await sql`savepoint creates`.execute(this.#trx);
    const release = () => sql`release savepoint creates`.execute(this.#trx);
    try {
      const done = await this.#insert(creates);
      await release();
      return done;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    await sql`rollback to savepoint creates`.execute(this.#trx);
    await release();
    const done: Done[] = [];
    for (const create of creates) done.push(...(await atOperation(create.index, () => this.#insert([create]))));
    return done;
  }

  async #insert(creates: readonly Create[]): Promise<Done[]> {
    const judgements = await this.#judged(creates);
    const require = async (allowed: (judgement: Judgement) => void) => {
      for (const [index, judgement] of judgements.entries()) {
        const work = () => inFields(() => judgement && allowed(judgement));
        await (creates.length === 1 ? work() : atOperation(creates[index]?.index ?? 0, work));
      }
    };
    await require((judgement) => {
      judgement.requireWritable();
      judgement.requireAcceptedFields();
    });
    const [first, ...others] = creates.map(({ permit, key, fields, checked }, index) => ({
      ...checked,
      judgement: judgements[index],
      permit,
      origin: this.#caller.origin,
      key,
      fields,
    }));
    if (!first) return [];
    await this.#requireReferences(creates);
    await require((judgement) => judgement.requireAcceptedTargets());
    // A refusal of several counts for none of them: each runs again by itself.
    const found = await inFields(() => executeWithin(this.#trx, [first, ...others]));
    const byKey = new Map(found.map((row) => [row.key, row]));
    return creates.map(({ key }) => ({ status: 201, key, row: byKey.get(key) }));
  }

  /** The judgements of creates of one name. */
  async #judged(creates: readonly Create[]): Promise<(Judgement | undefined)[]> {
    const [first] = creates;
    const texts = creates.map(({ fields }) => fields);
    return first ? await judgeCreations(this.#store, first.permit, texts) : [];
  }

  async #requireReferences(creates: readonly Create[]): Promise<void> {
    const [first] = creates;
    const layout = first?.checked.companion?.layout;
    if (!first || !layout) return;
    const rows = creates.map(({ checked: { companion } }) => ({ values: companion?.values ?? {} }));
    const found = await faultsOfReferences(this.#store, first.permit, layout, rows, this.#rules.created);
    await inFields(() => requireNoFaults(found.find((faults) => faults.length > 0) ?? []));
  }

  one(operation: BatchOperation): Promise<Done> {
    switch (operation.op) {
      case 'create':
        throw new Error('creates of one name are run together');
      case 'update':
        return this.#update(operation);
      case 'delete':
        return this.#delete(operation);
      case 'get':
        return this.#get(operation);
    }
  }

  async #remove(index: number, deleted: Deleted, key: string, change: ChangeValues): Promise<void> {
    try {
      await new Removal(this.#trx, this.#rules.types, change, { going: this.#rules.deleted }).run(deleted, key, {
        checksLater: this.#rules.defersReferences,
      });
    } catch (error) {
      if (error instanceof StillReferencedError) throw new Blocked(index, error);
      // A type that is being changed has a reference that it does not declare yet.
      throw isStillReferenced(error) ? new Problem('still-referenced') : error;
    }
  }

  async #get({ permit, key }: Get): Promise<Done> {
    const { rows } = await this.#trx.executeQuery(findHeavy(permit).query(placeOf(permit, key)));
    if (!rows[0]) throw new Problem('not-found');
    return { status: 200, key, row: rows[0] };
  }

  async #update({ permit, key, patch, ifMatch, type }: Update): Promise<Done> {
    const { limitBytes, created } = this.#rules;
    const change = { patch, limitBytes, ...guardOfVersion(ifMatch) };
    const typeChanged = () => Promise.reject(new TypeChanged());
    const view = { store: this.#store, types: { find: () => Promise.resolve(type), at: typeChanged }, created };
    return await inFields(() =>
      inRounds(async () => {
        const merge = await checkMerge(view, permit, key, change);
        const [row] = await executeWithin(this.#trx, { ...merge, statement: 'updateOne', permit, origin: this.#caller.origin, key });
        return row && { status: 200 as const, key, row };
      }),
    );
  }

  async #delete({ index, permit, key, ifMatch, type }: Delete): Promise<Done> {
    const change = changeValues(permit, this.#caller.origin, type?.revision ?? '0');
    const guard = guardOfVersion(ifMatch);
    await holdTypes.execute(this.#trx);
    const { rights, ...values } = await inRounds(async () => {
      const lockable = lacksGuard(type, guard) ? undefined : await lockablePlace(this.#store, permit, key, guard.versions);
      if (lockable) {
        const { place, ...accepted } = lockable;
        const locked = { ...accepted, ...change, ...place };
        const { rows } = await this.#trx.executeQuery(lockOne(lockable.rights).query(locked));
        if (rows.length > 0) return locked;
      }
      const [state] = (await this.#trx.executeQuery(findState(permit).query(placeOf(permit, key)))).rows;
      if (!state) throw await refusalOf(this.#store, permit, key);
      if (state.typeRevision !== change.typeRevision) throw new TypeChanged();
      requirePrecondition(type, guard, state.version);
      // Another request has deleted and restored the entity meanwhile.
      return undefined;
    });
    const { companion, trashKeep = null } = type ?? {};
    if (companion) await this.#remove(index, { name: permit.entity, companion, trashKeep }, key, change);
    else await this.#trx.executeQuery(deletionOf(companion, rights, trashKeep).query({ ...values, trashKeep }));
    return { status: 204, key, row: undefined };
  }
}
