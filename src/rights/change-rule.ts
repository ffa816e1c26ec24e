/**
 * Which changes of an entity the grants of a caller allow. A statement tests their filters and checks on its snapshot, and the change is then written into the version that
 * was tested (decision 320). Each changed field needs one grant: its filter on the row before, its check on the row afterwards, and the field among those that it lets
 * be written. Parts of two grants never allow a change together.
 */
import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder } from 'kysely';
import { filterCondition } from '../filter/compile.ts';
import { isEnvelopeName } from '../filter/fields.ts';
import { comparedFields, hasLookup, testsOf, type Filter } from '../filter/syntax.ts';
import { pointerTo } from '../problems/pointer.ts';
import type { Fault } from '../problems/faults.ts';
import { digestOfText, fieldsAt, type CoverageSource, type PermitValues } from './coverage.ts';
import { hasField } from './field-set.ts';
import { digestOfView, viewOf, type FieldView } from './field-view.ts';
import type { Grant } from './grant.ts';
import type { RuleDigest } from './vocabulary.ts';
import { variablesAt, variablesUsed, type CallerVariables, type VariableUse } from './variable-columns.ts';

/** The findings of a statement: for each grant of the action, and for each of `read`, whether its test holds. */
export interface ChangeFacts {
  /** The filters of the action on the row before; undefined for a new entity. */
  covers?: readonly boolean[] | undefined;
  /** The checks of the action on the row afterwards. */
  accepts: readonly boolean[];
  /** The filters of `read` on the row before, and afterwards. */
  reads?: readonly boolean[] | undefined;
  readsAfter: readonly boolean[];
}

/** The members of a change. */
export interface ChangedMembers {
  /** All that the caller has sent, changed or not. */
  sent: readonly string[];
  changed: ReadonlySet<string>;
}

/** The grants of an action on the entities of a name, and the grants of `read`. */
export interface ChangeGrants {
  entity: string;
  grants: readonly Grant[];
  reads: readonly Grant[];
  sensitive: ReadonlySet<string>;
}

/** A refusal, for the audit trail. */
export interface RefusedChange {
  entity: string;
  /** The members that need a grant and have none. */
  fields: readonly string[];
  /** The rules that do not allow them. */
  rules: readonly RuleDigest[];
}

export class ChangeRule {
  /** Letters and digits. Rules with the same digest have the same SQL. */
  readonly digest: string;
  readonly values: Omit<PermitValues, 'name' | 'owner'>;
  /** Whether a check looks at other entities. */
  readonly checksOthers: boolean;
  readonly #entity: string;
  readonly #grants: readonly Grant[];
  readonly #reads: readonly Grant[];
  readonly #sensitive: ReadonlySet<string>;
  readonly #used: readonly VariableUse[];
  readonly #view: FieldView;
  readonly #caller: CallerVariables;

  constructor({ entity, grants, reads, sensitive }: ChangeGrants, caller: CallerVariables) {
    const filters = [...grants.flatMap(({ filter, check }) => [filter, check]), ...reads.map(({ filter }) => filter)];
    this.#entity = entity;
    this.#grants = grants;
    this.#reads = reads;
    this.#sensitive = sensitive;
    this.#used = variablesUsed(...filters);
    this.#view = viewOf(reads, sensitive, caller);
    this.#caller = caller;
    this.values = caller.valuesOf(this.#used);
    this.checksOthers = grants.some(({ check }) => hasLookup(check));
    this.digest = digestOfText([grants.length, filters, digestOfView(this.#view)]);
  }

  /** The values that fill members which a new entity lacks: those that all grants set alike. A variable that the caller lacks fills nothing. */
  presets(): ReadonlyMap<string, unknown> {
    const [first, ...others] = this.#grants;
    const isAlike = ([name, value]: [string, unknown]) =>
      others.every(({ set }) => set.has(name) && isDeepStrictEqual(set.get(name), value));
    const alike = [...(first?.set ?? [])].filter(isAlike).map(([name, value]) => [name, this.#valueOf(value)] as const);
    return new Map(alike.filter(([, value]) => value !== undefined && value !== null));
  }

  #valueOf(preset: unknown): unknown {
    const name = typeof preset === 'object' && preset !== null && '$var' in preset ? preset.$var : undefined;
    return typeof name === 'string' ? this.#caller.valueOf(name) : preset;
  }

  /** SQL: `covers` and `reads` of {@link ChangeFacts}, for the row before. */
  before(source: CoverageSource): { covers: RawBuilder<boolean[]>; reads: RawBuilder<boolean[]> } {
    return {
      covers: this.#each(
        this.#grants.map(({ filter }) => filter),
        source,
      ),
      reads: this.#readable(source),
    };
  }

  /** SQL: `accepts` and `readsAfter` of {@link ChangeFacts}, for the row afterwards. */
  after(source: CoverageSource): { accepts: RawBuilder<boolean[]>; reads: RawBuilder<boolean[]> } {
    return {
      accepts: this.#each(
        this.#grants.map(({ check }) => check),
        source,
      ),
      reads: this.#readable(source),
    };
  }

  /** SQL: the fields of the row that are hidden from the caller. */
  hidden(source: CoverageSource): RawBuilder<unknown> {
    const fields = sql.raw(`${source.row}.fields`);
    const cut = this.#view.kind === 'whole' ? fields : this.#view.cut(fields, source);
    const isReadable = sql`true = any(${this.#readable(source)})`;
    return sql`(case when ${isReadable} then ${fields} - array(select jsonb_object_keys(${cut})) else ${fields} end)`;
  }

  /** SQL: the same in a statement that is built for the caller, of a row that it calls `row`. */
  hiddenOfCaller(row: string): RawBuilder<unknown> {
    const values: Partial<PermitValues> = this.values;
    return this.hidden({ row, value: (name) => sql`${values[name]}` });
  }

  #readable(source: CoverageSource): RawBuilder<boolean[]> {
    return this.#each(
      this.#reads.map(({ filter }) => filter),
      source,
    );
  }

  #each(filters: readonly Filter[], source: CoverageSource): RawBuilder<boolean[]> {
    const tests = filters.map(
      (filter) => sql`coalesce(${filterCondition(filter, fieldsAt(source), variablesAt(source, this.#used))}, false)`,
    );
    return sql<boolean[]>`array[${sql.join(tests)}]::boolean[]`;
  }

  /** Whether a grant of the action covers the row before. */
  isCovered({ covers }: ChangeFacts): boolean {
    return covers === undefined || covers.includes(true);
  }

  /** Whether a grant of `read` covers the row before. */
  isReadable({ reads = [] }: ChangeFacts): boolean {
    return reads.includes(true);
  }

  /** The members that no covering grant lets the caller write. A hidden one counts as changed, since the refusal would tell whether it is. */
  unwritable(facts: ChangeFacts, members: ChangedMembers): Fault[] {
    return this.#refused(facts, members)
      .filter((name) => !this.#writing(facts, name).length)
      .map((name) => ({ pointer: pointerTo([name]), code: 'not-writable' as const }));
  }

  /** The members for which a check does not hold. `isNew` says that there is no entity yet, so that one check has to hold in any case. */
  forbidden(facts: ChangeFacts, members: ChangedMembers, isNew = false): Fault[] {
    const names = this.#refused(facts, members);
    const failing = names.flatMap((name) => this.#writing(facts, name));
    if (isNew && !facts.accepts.includes(true)) failing.push(...this.#grants);
    const compared = new Set(
      failing.flatMap(({ check }) =>
        testsOf(check)
          .flatMap(comparedFields)
          .map(({ field: [name = ''] }) => name),
      ),
    );
    if (failing.length === 0) return [];
    const isKnown = (name: string) =>
      members.sent.includes(name) || (isNew ? this.isKnownOfNew(facts, name) : this.isShownBefore(facts, name));
    const pointers = new Set([...compared].map((name) => (isKnown(name) || isEnvelopeName(name) ? pointerTo([name]) : '')));
    // The check of a rule that does not bind compares nothing, and does not hold.
    if (pointers.size === 0) pointers.add('');
    return [...pointers].map((pointer) => ({ pointer, code: 'value-forbidden' as const }));
  }

  refusedChange(facts: ChangeFacts, members: ChangedMembers): RefusedChange {
    const fields = this.#refused(facts, members);
    const writing = fields.flatMap((name) => this.#writing(facts, name));
    const grants = writing.length > 0 ? writing : this.#grants.filter((_, index) => this.#covers(facts, index));
    return { entity: this.#entity, fields, rules: [...new Set(grants.flatMap(({ digest }) => digest ?? []))] };
  }

  /** The members that need a grant and have none. */
  #refused(facts: ChangeFacts, { sent, changed }: ChangedMembers): string[] {
    const isAllowed = (name: string) =>
      this.#grants.some((grant, index) => this.#covers(facts, index) && facts.accepts[index] && this.#writes(grant, name));
    return sent.filter((name) => (changed.has(name) || !this.isShownBefore(facts, name)) && !isAllowed(name));
  }

  /** The covering grants that let the member be written. */
  #writing(facts: ChangeFacts, name: string): Grant[] {
    return this.#grants.filter((grant, index) => this.#covers(facts, index) && this.#writes(grant, name));
  }

  #covers({ covers }: ChangeFacts, index: number): boolean {
    return covers === undefined || covers[index] === true;
  }

  #writes({ write, set }: Grant, name: string): boolean {
    return set.has(name) || hasField(write, name, this.#sensitive);
  }

  /** Whether the row before shows the member to the caller. */
  isShownBefore({ reads = [] }: ChangeFacts, name: string): boolean {
    return this.#reads.some((grant, index) => reads[index] && hasField(grant.read, name, this.#sensitive));
  }

  /** Whether a grant lets the member be written in some row, or shows it there. */
  isEverKnown(name: string): boolean {
    const isAnswered = (grant: Grant) => grant.kind === 'rule' && hasField(grant.read, name, this.#sensitive);
    return (
      this.#reads.some(({ read }) => hasField(read, name, this.#sensitive)) ||
      this.#grants.some((grant) => this.#writes(grant, name) || isAnswered(grant))
    );
  }

  /** Whether the caller may know the member of a new entity: a grant lets it be written, or the answer shows it. */
  isKnownOfNew(facts: ChangeFacts, name: string): boolean {
    return this.#writing(facts, name).length > 0 || this.isShownAfter(facts, name);
  }

  /** Whether the answer shows the member: the row afterwards does, or a grant with a rule that allows the change. */
  isShownAfter(facts: ChangeFacts, name: string): boolean {
    const isRead = this.#reads.some((grant, index) => facts.readsAfter[index] && hasField(grant.read, name, this.#sensitive));
    const isAllowing = (grant: Grant, index: number) => grant.kind === 'rule' && this.#covers(facts, index) && facts.accepts[index];
    return isRead || this.#grants.some((grant, index) => isAllowing(grant, index) && hasField(grant.read, name, this.#sensitive));
  }
}
