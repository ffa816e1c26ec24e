/**
 * What grants mean, a second time: without SQL and without code of `src/rights` and `src/filter`. The random test of rights compares what the service answers
 * with this (docs/rights.md).
 */
import { isDeepStrictEqual } from 'node:util';
import { fulfils, type ModelRow, type ModelTargets, type ModelType, type ModelVariables, type TypeOf } from './filter-model.ts';

export type Json = Record<string, unknown>;
export type ModelAction = 'create' | 'read' | 'update' | 'delete';

/** A grant as roles store it: of `condition`, which is `any` if undefined, or of `rule`. */
export interface ModelGrant {
  actions: readonly ModelAction[];
  condition?: 'any' | 'own';
  rule?: { filter?: Json; check?: Json; read?: readonly string[]; write?: readonly string[]; set?: Json };
  /** A rule that does not bind allows nothing. */
  isUnbound?: boolean;
}

export interface ModelCaller {
  name: string;
  grants: readonly ModelGrant[];
  variables: ModelVariables;
  sensitive: readonly string[];
  typeOf: TypeOf;
  /** The rows that rules look at through references. */
  targets: ModelTargets;
}

/** A refusal, with the faults as texts of pointer and code. */
export interface Refusal {
  status: number;
  code: string;
  faults: readonly string[];
}

export const refusal = (status: number, code: string, ...faults: string[]): Refusal => ({ status, code, faults: faults.toSorted() });
export const isRefusal = (value: object): value is Refusal => 'code' in value;

const forbidden = refusal(403, 'forbidden');
const notFound = refusal(404, 'not-found');

/** A change that is allowed: what the answer shows. */
export interface Allowed {
  shown: Json;
}

/** A change of a row. The type or a unique rule may refuse it between the rights of its members and those of its values. */
export interface WantedUpdate {
  before: ModelRow;
  after: ModelRow;
  /** The members that the caller has sent. */
  sent: readonly string[];
  /** The refusal by the type, with the pointers of its faults. */
  unfit?: Refusal | undefined;
}

/** A grant in one form. */
interface Rule {
  isRule: boolean;
  covers: (row: ModelRow) => boolean;
  accepts: (row: ModelRow) => boolean;
  /** The fields that the check compares. */
  compared: readonly string[];
  coversAll: boolean;
  read: readonly string[];
  write: readonly string[];
  set: Json;
}

export class RightsModel {
  readonly #caller: ModelCaller;
  readonly #reads: readonly Rule[];

  constructor(caller: ModelCaller) {
    this.#caller = caller;
    this.#reads = this.#of('read');
  }

  #of(action: ModelAction): Rule[] {
    const plain = this.#caller.grants.filter(({ rule, actions }) => !rule && actions.includes(action));
    const conditions = plain.some(({ condition }) => condition !== 'own') ? ['any'] : plain.length > 0 ? ['own'] : [];
    const rules = this.#caller.grants.flatMap((grant) =>
      grant.rule && grant.actions.includes(action) ? [this.#ruleOf(grant, action)] : [],
    );
    return [...conditions.map((condition) => this.#plain(condition === 'any')), ...rules];
  }

  #plain(coversAll: boolean): Rule {
    const covers = (row: ModelRow) => coversAll || row.$createdBy === this.#caller.name;
    return { isRule: false, covers, accepts: () => true, compared: [], coversAll, read: ['*'], write: ['*'], set: {} };
  }

  #ruleOf({ rule = {}, isUnbound }: ModelGrant, action: ModelAction): Rule {
    const never = () => false;
    if (isUnbound) return { isRule: true, covers: never, accepts: never, compared: [], coversAll: false, read: [], write: [], set: {} };
    const { filter = {}, check = filter, set = {}, write = ['*'], read = action === 'read' ? ['*'] : [] } = rule;
    const { variables, typeOf, targets } = this.#caller;
    const holds = (test: Json) => (row: ModelRow) => fulfils(row, test, { typeOf, variables, targets });
    return {
      isRule: true,
      covers: action === 'create' ? () => true : holds(filter),
      accepts: holds({ $and: [check, set] }),
      compared: [...namesIn(check), ...Object.keys(set)],
      coversAll: Object.keys(filter).length === 0,
      read,
      write,
      set,
    };
  }

  #has(list: readonly string[], name: string): boolean {
    if (list.includes(`-${name}`)) return false;
    return list.includes(name) || list.includes('**') || (list.includes('*') && !this.#caller.sensitive.includes(name));
  }

  isGranted(action: ModelAction): boolean {
    return this.#of(action).length > 0;
  }

  isReadable(row: ModelRow): boolean {
    return this.#reads.some((grant) => grant.covers(row));
  }

  shows(row: ModelRow, name: string): boolean {
    return this.#reads.some((grant) => grant.covers(row) && this.#has(grant.read, name));
  }

  /** The row as the caller sees it. */
  cut<R extends ModelRow>(row: R): R {
    return { ...row, fields: pick(row.fields, (name) => this.shows(row, name)) };
  }

  /** Whether no grant shows the field, in whatever row. */
  isNeverShown(name: string): boolean {
    return !this.#reads.some(({ read }) => this.#has(read, name));
  }

  /** Whether each covered row shows the field. */
  isAlwaysShown(name: string): boolean {
    const showing = this.#reads.filter(({ read }) => this.#has(read, name));
    return showing.length === this.#reads.length || showing.some(({ coversAll }) => coversAll);
  }

  get coversAll(): boolean {
    return this.#reads.some(({ coversAll }) => coversAll);
  }

  /** The refusal of any read; undefined if the caller has a grant. */
  get refusalOfReads(): Refusal | undefined {
    return this.#reads.length === 0 ? forbidden : undefined;
  }

  /** The grants of `update`: one without a rule covers only what is readable, and shows nothing. */
  #updates(): Rule[] {
    return this.#of('update').map((grant) =>
      grant.isRule ? grant : Object.assign({}, grant, { covers: (row: ModelRow) => grant.covers(row) && this.isReadable(row), read: [] }),
    );
  }

  /** The refusal of any update. */
  get refusalOfUpdates(): Refusal | undefined {
    const grants = this.#of('update');
    const isAllowed = grants.length > 0 && (this.#reads.length > 0 || grants.some(({ isRule }) => isRule));
    return isAllowed ? undefined : forbidden;
  }

  isUpdatable(row: ModelRow): boolean {
    return this.#updates().some((grant) => grant.covers(row));
  }

  /** The refusal of a change of the row, by the rows of the grants alone. */
  refusalOf(row: ModelRow | undefined, isCovered: (row: ModelRow) => boolean): Refusal | undefined {
    if (row && isCovered(row)) return undefined;
    return row && this.isReadable(row) ? forbidden : notFound;
  }

  isDeletable(row: ModelRow): boolean {
    return this.#of('delete').some((grant) => grant.covers(row));
  }

  update({ before, after, sent, unfit }: WantedUpdate): Refusal | Allowed {
    const refused = this.refusalOf(before, (row) => this.isUpdatable(row));
    if (refused) return refused;
    const covering = this.#updates().filter((grant) => grant.covers(before));
    const isChanged = (name: string) => !isDeepStrictEqual(before.fields[name], after.fields[name]);
    const needing = sent.filter((name) => isChanged(name) || !this.shows(before, name));
    const isKnown = (name: string) => sent.includes(name) || this.shows(before, name);
    const faults = this.#judge({ covering, after, needing, isKnown, unfit });
    if (faults) return faults;
    const allowing = covering.filter((grant) => grant.isRule && grant.accepts(after));
    return { shown: pick(after.fields, (name) => this.shows(after, name) || allowing.some(({ read }) => this.#has(read, name))) };
  }

  /** Whether a check of creates looks at other entities. Then it waits for the other faults of all entities of a request (rule 178). */
  get checksOthers(): boolean {
    return this.#caller.grants.some(({ actions, isUnbound, rule }) => {
      const test = JSON.stringify(rule?.check ?? rule?.filter ?? {});
      return actions.includes('create') && !isUnbound && /"\$(?:match|some|none)"/.test(test);
    });
  }

  /** The refusal of any create. */
  get refusalOfCreates(): Refusal | undefined {
    return this.isGranted('create') ? undefined : forbidden;
  }

  /** The fields with the values that all grants set alike. */
  withPresets(fields: Json): Json {
    const [first, ...others] = this.#of('create');
    const preset: Json = {};
    for (const [name, value] of Object.entries(first?.set ?? {})) {
      const variable = typeof value === 'object' && value !== null ? this.#caller.variables[String((value as Json)['$var'])] : { value };
      const isAlike = others.every(({ set }) => isDeepStrictEqual(set[name], value));
      if (isAlike && variable?.value !== undefined && variable.value !== null) preset[name] = variable.value;
    }
    return { ...preset, ...fields };
  }

  /** `row` has the presets. Its answer shows all, since the caller has sent all. */
  create(row: ModelRow, unfit?: Refusal): Refusal | Allowed {
    const covering = this.#of('create');
    const sent = Object.keys(row.fields);
    const allowing = covering.filter((grant) => grant.accepts(row));
    const isShown = (name: string) => this.shows(row, name) || allowing.some(({ isRule, read }) => isRule && this.#has(read, name));
    const isWritten = (name: string) => covering.some(({ set, write }) => Object.hasOwn(set, name) || this.#has(write, name));
    const isKnown = (name: string) => sent.includes(name) || isWritten(name) || isShown(name);
    return this.#judge({ covering, after: row, needing: sent, isKnown, unfit, isNew: true }) ?? { shown: row.fields };
  }

  #judge({ covering, after, needing, isKnown, unfit, isNew = false }: Judged): Refusal | undefined {
    const writing = (name: string) => covering.filter(({ set, write }) => Object.hasOwn(set, name) || this.#has(write, name));
    const refused = needing.filter((name) => !writing(name).some((grant) => grant.accepts(after)));
    const unwritable = refused.filter((name) => writing(name).length === 0);
    if (unwritable.length > 0) return refusal(403, 'field-forbidden', ...unwritable.map((name) => `/${name} not-writable`));
    if (unfit) return unfit;
    const isRefused = isNew && !covering.some((grant) => grant.accepts(after));
    if (refused.length === 0 && !isRefused) return undefined;
    const failing = [...refused.flatMap(writing), ...(isRefused ? covering : [])];
    const compared = failing.flatMap((grant) => grant.compared).map((name) => (name.startsWith('$') || isKnown(name) ? `/${name}` : ''));
    const pointers = new Set(compared.length > 0 ? compared : ['']);
    return refusal(403, 'field-forbidden', ...[...pointers].map((pointer) => `${pointer} value-forbidden`));
  }
}

interface Judged {
  covering: readonly Rule[];
  after: ModelRow;
  /** The members that need a grant. */
  needing: readonly string[];
  isKnown: (name: string) => boolean;
  unfit: Refusal | undefined;
  isNew?: boolean;
}

const pick = (fields: Json, isPicked: (name: string) => boolean): Json =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isPicked(name)));

/** The fields that a filter compares, by their first names. */
export function namesIn(filter: Json): string[] {
  return Object.entries(filter).flatMap(([name, value]) => {
    if (name === '$and' || name === '$or') return (value as Json[]).flatMap(namesIn);
    if (name === '$not') return namesIn(value as Json);
    const [, other] = /"\$field":"(\w+)/.exec(JSON.stringify(value)) ?? [];
    return other === undefined ? [name] : [name, other];
  });
}

/** The result of a merge patch (RFC 7396). */
export function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Json = { ...(typeof target === 'object' && !Array.isArray(target) ? (target as Json) : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

/** The types of the fields of the tests: those of the declared name, and any. */
export const typeOfDeclared: TypeOf = (path) =>
  (({ n: 'number', m: 'decimal', o: 'object', p: 'int64' }) as Readonly<Record<string, ModelType>>)[path] ?? 'string';
