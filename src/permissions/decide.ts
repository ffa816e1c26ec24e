/** Decides how a request on entities would be answered. Each question runs the statements and checks of its request, up to the one that writes. */
import type { Transaction } from 'kysely';
import type { Statements } from '../database/port.ts';
import { statementsWithin } from '../database/statements-within.ts';
import type { Database } from '../database/tables.ts';
import { findLight, findState, stateOf } from '../entities/find-entity.ts';
import { ConflictSearch } from '../entities/writing/conflicts.ts';
import { problemOfRemoval } from '../entities/writing/delete.ts';
import { judgeCreations } from '../entities/writing/judge.ts';
import { checkMerge } from '../entities/writing/merge.ts';
import type { SentFields } from '../entities/writing/natural-keys.ts';
import { withPresets } from '../entities/writing/presets.ts';
import { isStored } from '../entities/writing/purge.ts';
import { requireReferences } from '../entities/writing/references.ts';
import { refusalOf } from '../entities/writing/refusal.ts';
import { findRestrictions } from '../entities/writing/restrictions.ts';
import { allowChange, requireStoredSize, type Checked } from '../entities/writing/rules.ts';
import { StillReferencedError } from '../entities/writing/still-referenced.ts';
import type { EntityTypes } from '../entity-types/types.ts';
import { isRefusal, Problem } from '../problems/errors.ts';
import { authorize, authorizeUpdate, isPermitted, referableRows, type Permit } from '../rights/permit.ts';
import { permitValues } from '../rights/coverage.ts';
import { wholeView } from '../rights/field-view.ts';
import type { Principal } from '../rights/principal.ts';
import type { Action } from '../rights/vocabulary.ts';

/** A request that a caller thinks of. */
export interface EntityQuestion {
  entity: string;
  action: Action;
  /** Without a key the question is about the name alone. */
  key?: string | undefined;
  /** The fields of a new entity, or the patch of an update. */
  set?: SentFields | undefined;
}

/** A snapshot of the database, and what the process knows. */
export interface DecisionView {
  trx: Transaction<Database>;
  types: EntityTypes;
  /** The most bytes of an entity. */
  limitBytes: number;
}

/** The answer without its content; `problem` if it is a refusal. */
export interface Decision {
  status: number;
  problem?: Problem;
}

const statusOf: Readonly<Partial<Record<Action, number>>> = { create: 201, delete: 204, purge: 204 };

/** Decides the question for the caller. Throws what has failed, such as a connection. */
export async function decideQuestion(view: DecisionView, principal: Principal, question: EntityQuestion): Promise<Decision> {
  try {
    await new Decider(view, principal, question).run();
    return { status: statusOf[question.action] ?? 200 };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { status: error.status, problem: error };
  }
}

class Decider {
  readonly #view: DecisionView;
  readonly #store: Statements;
  readonly #principal: Principal;
  readonly #question: EntityQuestion;

  constructor(view: DecisionView, principal: Principal, question: EntityQuestion) {
    this.#view = view;
    const store = statementsWithin(view.trx);
    // A statement that fails ends the transaction, so that none needs a savepoint.
    this.#store = { ...store, run: (statement, values) => store.read(statement, values) };
    this.#principal = principal;
    this.#question = question;
  }

  /** Throws the refusal of the request. */
  async run(): Promise<void> {
    const { entity, action, key } = this.#question;
    switch (action) {
      case 'create':
        return await this.#create(authorize(this.#principal, entity, action));
      case 'read':
        return await this.#read(authorize(this.#principal, entity, action), key);
      case 'update':
        return await this.#update(authorizeUpdate(this.#principal, entity), key);
      case 'delete':
        return await this.#delete(authorize(this.#principal, entity, action), key);
      case 'purge':
        return await this.#purge(authorize(this.#principal, entity, action), key);
      case 'label':
        return await this.#label(key);
      case 'type':
        authorize(this.#principal, entity, action);
    }
  }

  /** The type of the name. Throws 404 where only declared names exist, and this is none. */
  #requireName() {
    return this.#view.types.find(this.#question.entity);
  }

  async #read(permit: Permit<'read'>, key: string | undefined): Promise<void> {
    await this.#requireName();
    if (key !== undefined && !(await findLight(this.#store, permit, key))) throw new Problem('not-found');
  }

  async #create(permit: Permit<'create'>): Promise<void> {
    const { set } = this.#question;
    const type = await this.#requireName();
    if (!set) return;
    const { fields, text } = withPresets(permit, set);
    requireStoredSize(text, this.#view.limitBytes);
    const [judgement] = await judgeCreations(this.#store, permit, [text]);
    const checked = allowChange({ judgement, type, next: { text, fields } });
    await requireReferences(this.#store, permit, checked.companion, { judgement });
    await this.#requireNoConflict(null, checked);
  }

  async #update(permit: Permit<'update'>, key: string | undefined): Promise<void> {
    const { set } = this.#question;
    const { types, limitBytes } = this.#view;
    await this.#requireName();
    if (key === undefined) return;
    const change = { patch: set?.text ?? '{}', limitBytes, versions: null, isGuarded: true };
    await this.#requireNoConflict(key, await checkMerge({ store: this.#store, types }, permit, key, change));
  }

  /** Throws 409 and 422 as the rules of the companion table do. */
  async #requireNoConflict(key: string | null, { companion }: Checked): Promise<void> {
    if (!companion) return;
    const search = new ConflictSearch({ namesRows: false }).begin();
    const [conflict] = await search.check(this.#view.trx, companion.layout, [{ row: 1, key, values: companion.values }]);
    if (conflict) throw conflict.problem;
  }

  async #delete(permit: Permit<'delete'>, key: string | undefined): Promise<void> {
    const type = await this.#requireName();
    if (key === undefined) return;
    if (!(await stateOf(this.#store, permit, key))) throw await refusalOf(this.#store, permit, key);
    if (!type?.companion) return;
    const restricting = await findRestrictions(this.#view.trx, permit.entity, key);
    if (restricting.size === 0) return;
    const readable = (name: string) => (isPermitted(this.#principal, name, 'read') ? authorize(this.#principal, name, 'read') : undefined);
    throw await problemOfRemoval(this.#store, new StillReferencedError(restricting, 'restrict'), readable);
  }

  async #purge(permit: Permit<'purge'>, key: string | undefined): Promise<void> {
    if (key === undefined) return;
    if (await stateOf(this.#store, permit, key)) return await this.#delete(authorize(this.#principal, permit.entity, 'delete'), key);
    await this.#requireName();
    if (!(await isStored(this.#view.trx, permit, key))) throw await refusalOf(this.#store, permit, key);
  }

  async #label(key: string | undefined): Promise<void> {
    const { entity } = this.#question;
    const coverage = referableRows(this.#principal, entity);
    if (!coverage) throw new Problem('forbidden', { audit: { entity } });
    await this.#requireName();
    if (key === undefined) return;
    const find = findState({ coverage, view: wholeView });
    if ((await this.#store.run(find, { ...permitValues({ entity, coverage }), key })).length === 0) throw new Problem('not-found');
  }
}
