/** Reads the rule of a grant as an administrator writes it, with all faults by their pointers, and tells two documents apart by their digests. */
import { createHash } from 'node:crypto';
import { isEnvelopeName } from '../filter/fields.ts';
import type { Unplaced } from '../filter/parse.ts';
import { ruleLimits } from '../filter/limits.ts';
import { allTestsOf } from '../filter/syntax.ts';
import { expectedOneOf } from '../problems/expected.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import { placeOf, pointerTo, positionsIn } from '../problems/pointer.ts';
import { bindRule, isOfAllNames, type RuleDocument, type RuleScope } from './rule.ts';
import type { Action, RuleDigest } from './vocabulary.ts';

/** The name of the entities that a grant is about, or `*`, and what it allows. */
export interface GrantTarget {
  entity: string;
  actions: readonly Action[];
}

/** Bytes of the canonical text of a rule. */
const maximumBytes = 8_192;

/** In the order in which they are shown. */
export const ruleMembers = ['filter', 'check', 'read', 'write', 'set'] as const satisfies readonly (keyof RuleDocument)[];
type MemberName = (typeof ruleMembers)[number];

/** The actions that a rule with the member may be granted for. The member has to concern one of them. */
const actionsOf: Readonly<Record<MemberName, { beside: readonly Action[]; concerned: readonly Action[] }>> = {
  filter: {
    beside: ['create', 'read', 'update', 'delete', 'purge', 'label'],
    concerned: ['create', 'read', 'update', 'delete', 'purge', 'label'],
  },
  check: { beside: ['create', 'read', 'update'], concerned: ['create', 'update'] },
  read: { beside: ['create', 'read', 'update'], concerned: ['create', 'read', 'update'] },
  write: { beside: ['create', 'read', 'update'], concerned: ['create', 'update'] },
  set: { beside: ['create'], concerned: ['create'] },
};

/** The members of filters behind which the entities are others, which are as they are now. */
const references = ['$match', '$some', '$none'];

/** The rule, or the first faults of the document. Its fields and variables are bound by {@link faultsOfBinding}. */
export function readRuleDocument(value: unknown, target: GrantTarget): { document: RuleDocument } | { faults: Fault[] } {
  const reader = new RuleReader(value, target);
  reader.read();
  const { faults } = reader;
  if (faults.length === 0 && Buffer.byteLength(canonicalText(value)) > maximumBytes)
    faults.push({ pointer: '', code: 'too-long', values: { maximum: maximumBytes } });
  return faults.length > 0 ? { faults: faults.slice(0, maximumFaults) } : { document: value as RuleDocument };
}

/** The faults of the rule with the fields of the entities and the variables as they are now. */
export function faultsOfBinding(document: RuleDocument, { entity, actions }: GrantTarget, scope: RuleScope): Fault[] {
  const faults = new Map<string, Fault>();
  const add = (some: readonly Fault[]) => some.forEach((fault) => faults.set(JSON.stringify(fault), fault));
  for (const action of actions) {
    const bound = bindRule(document, action, scope);
    if ('faults' in bound) add(bound.faults);
  }
  if (entity !== '*') add(unknownNames(document, scope));
  add(excessOf(document, scope));
  return [...faults.values()].slice(0, maximumFaults);
}

/** The limits that all members exceed together; none if one cannot be bound. */
function excessOf(document: RuleDocument, scope: RuleScope): Fault[] {
  const { filter, check, set } = document;
  const parts = [{ filter }, { filter: check }, { set }].map((part) => bindRule(part as RuleDocument, 'update', scope));
  // The last part has no filter, so that its presets are its check.
  const tests = parts.flatMap((part, index) => ('grant' in part ? allTestsOf(index < 2 ? part.grant.filter : part.grant.check) : []));
  const isOver = (count: number, limit: number): Fault[] =>
    count > limit ? [{ pointer: '', code: 'too-many-tests', values: { limit } }] : [];
  const lookUps = tests.filter(({ kind }) => kind === 'lookup');
  return [...isOver(tests.length, ruleLimits.tests), ...isOver(lookUps.length, ruleLimits.lookUps)];
}

/** Names in lists of fields that the type lacks. */
function unknownNames(document: RuleDocument, { fields }: RuleScope): Fault[] {
  return (['read', 'write'] as const).flatMap((member) =>
    (document[member] ?? []).flatMap((entry, index): Fault[] => {
      const name = entry.replace(/^-/, '');
      const isKnown = /^\*+$/.test(name) || isEnvelopeName(name) || fields.typeOf([name]) !== undefined;
      return isKnown ? [] : [{ pointer: pointerTo([member, index]), code: 'unknown-field' }];
    }),
  );
}

/** The names of the variables in the document. */
export function variablesIn(document: RuleDocument): Set<string> {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value))
      if (name === '$var' && typeof member === 'string') names.add(member);
      else collect(member);
  };
  collect([document.filter, document.check, document.set]);
  return names;
}

/** The text that equal documents share, whatever the order of their members. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1))) : member,
  );
}

export function digestOfRule(document: RuleDocument): RuleDigest {
  return createHash('sha256').update(canonicalText(document)).digest('hex');
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

type Path = readonly (string | number)[];

class RuleReader {
  readonly faults: Fault[] = [];
  readonly #value: unknown;
  readonly #target: GrantTarget;
  readonly #positionOf: ReturnType<typeof positionsIn>;

  constructor(value: unknown, target: GrantTarget) {
    this.#value = value;
    this.#target = target;
    this.#positionOf = positionsIn(value);
  }

  read(): void {
    const value = this.#value;
    if (!isObject(value)) return this.#refuse([], { code: 'invalid-type', values: { allowed: 'object' } });
    const allowed = ruleMembers.filter((name) => this.#allows(name));
    // A grant without a member is `any`.
    if (Object.keys(value).length === 0) this.#refuse([], { code: 'required', ...expectedOneOf(allowed) });
    for (const [name, member] of Object.entries(value)) {
      const known = allowed.find((each) => each === name);
      if (known) this.#member(known, member);
      else this.#refuse([name], { code: 'unknown', ...expectedOneOf(allowed) });
    }
  }

  #allows(name: MemberName): boolean {
    const { beside, concerned } = actionsOf[name];
    const { actions } = this.#target;
    return actions.every((action) => beside.includes(action)) && actions.some((action) => concerned.includes(action));
  }

  #member(name: MemberName, value: unknown): void {
    switch (name) {
      case 'filter':
      case 'check':
        return isObject(value)
          ? this.#filter(value, [name])
          : this.#refuse([name], { code: 'invalid-type', values: { allowed: 'object' } });
      case 'read':
      case 'write':
        return this.#list(name, value);
      case 'set':
        return this.#presets(value);
    }
  }

  /** Everything else of a filter is read when it is bound. Versions and new entities have no folded texts; entities at the other ends of references have. */
  #filter(value: unknown, path: Path): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const at = [...path, Array.isArray(value) ? Number(name) : name];
      if (Array.isArray(value)) this.#filter(member, at);
      else if (name === '$fold') this.#refuse(at, { code: 'not-supported' });
      else if (!references.includes(name)) this.#filter(member, at);
    }
  }

  #list(member: 'read' | 'write', value: unknown): void {
    if (!Array.isArray(value)) return this.#refuse([member], { code: 'invalid-type', values: { allowed: 'array' } });
    const isOpen = value.includes('*') || value.includes('**');
    value.forEach((entry: unknown, index) => {
      const at = [member, index];
      if (typeof entry !== 'string') return this.#refuse(at, { code: 'invalid-type', values: { allowed: 'string' } });
      if (entry.replace(/^-/, '') === '') return this.#refuse(at, { code: 'invalid-value' });
      // Only what `*` and `**` have can be taken out.
      if (entry.startsWith('-') && !isOpen) return this.#refuse(at, { code: 'contradictory', values: { keyword: '*' } });
      if (this.#target.entity === '*' && !isOfAllNames([entry])) this.#refuse(at, { code: 'invalid-value', ...expectedOneOf(['*', '**']) });
    });
  }

  #presets(value: unknown): void {
    if (!isObject(value)) return this.#refuse(['set'], { code: 'invalid-type', values: { allowed: 'object' } });
    for (const [name, preset] of Object.entries(value)) {
      if (name.startsWith('$')) this.#refuse(['set', name], { code: 'not-addressable' });
      else if (!isPreset(preset))
        this.#refuse(['set', name], { code: 'invalid-type', values: { allowed: 'string, number, boolean, $var' } });
    }
  }

  #refuse(path: Path, fault: Unplaced): void {
    const names = path.map(String);
    this.faults.push({ ...fault, ...placeOf(path, (depth) => this.#positionOf(names.slice(0, depth + 1))) });
  }
}

/** Whether the value is one that a field can have, or a variable. */
function isPreset(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 1 && typeof value['$var'] === 'string';
  return ['string', 'number', 'boolean'].includes(typeof value);
}
