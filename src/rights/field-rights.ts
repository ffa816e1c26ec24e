/** The fields of the entities of one name by what a caller may do with them in some row, for documents that describe them. */
import { hasField, otherFields, type FieldSet } from './field-set.ts';
import { viewOf, type Showing } from './field-view.ts';
import type { Grant } from './grant.ts';
import type { CallerVariables } from './variable-columns.ts';

/** The rights on one field. */
export interface FieldRight {
  /** In which of the readable rows the field is shown; `never` without grants of `read`. */
  showing: Showing;
  /** Whether an answer to a change may show it. */
  isAnswered: boolean;
  isCreated: boolean;
  isUpdated: boolean;
  /** Whether the grants may fill it in new entities. */
  isPreset: boolean;
}

export interface FieldRights {
  /** Equal for rights that give each field the same right. */
  digest: string;
  of(name: string): FieldRight;
  /** Whether the right of every field, also of those without a name here, fulfils the test. */
  everyField(test: (right: FieldRight) => boolean): boolean;
}

/** The grants of a caller for entities of one name, by their actions. */
export interface ContractGrants {
  read: readonly Grant[];
  create: readonly Grant[];
  update: readonly Grant[];
}

/** The rights that the grants give together. `sensitive` are the fields that the type calls so. */
export function fieldRightsOf(grants: ContractGrants, sensitive: ReadonlySet<string>, caller: CallerVariables): FieldRights {
  const { read, create, update } = grants;
  const view = viewOf(read, sensitive, caller);
  const has = (set: FieldSet, name: string) => hasField(set, name, sensitive);
  const writes = (grant: Grant, name: string) => grant.set.has(name) || has(grant.write, name);
  const of = (name: string): FieldRight => ({
    showing: view.kind === 'whole' ? 'always' : view.showing(name),
    isAnswered: [...create, ...update].some((grant) => grant.kind === 'rule' && has(grant.read, name)),
    isCreated: create.some((grant) => writes(grant, name)),
    isUpdated: update.some((grant) => writes(grant, name)),
    isPreset: create.some(({ set }) => set.has(name)),
  });
  const all = [...read, ...create, ...update];
  const named = [...sensitive, ...all.flatMap((grant) => [grant.read, grant.write, grant.set].flatMap(namesIn))];
  const names = [...new Set(named)].toSorted();
  const others = JSON.stringify(of(otherFields));
  const differing = names.map((name) => [name, JSON.stringify(of(name))]).filter(([, right]) => right !== others);
  return {
    digest: JSON.stringify([others, ...differing]),
    of,
    everyField: (test) => [otherFields, ...names].every((name) => test(of(name))),
  };
}

const namesIn = (fields: FieldSet | ReadonlyMap<string, unknown>): string[] => [...('named' in fields ? fields.named : fields).keys()];
