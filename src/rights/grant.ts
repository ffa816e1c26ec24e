/** The grants of a caller for one action on entities of one name, bound to the fields of these. */
import { everyEntity, isEveryEntity, type Filter } from '../filter/syntax.ts';
import { allFields, noFields, type FieldSet } from './field-set.ts';
import type { RuleDigest } from './vocabulary.ts';

/** The right that one role gives. */
export interface Grant {
  /** `any` and `own` are the grants without a rule. */
  kind: 'any' | 'own' | 'rule';
  /** Of the rule, by which the audit trail finds its name; undefined for a grant without one. */
  digest?: RuleDigest | undefined;
  /** The rows, as they are before a change. */
  filter: Filter;
  /** The test of a row after a create, an update or a restore. */
  check: Filter;
  /** The fields that answers show. */
  read: FieldSet;
  /** The fields that may change. */
  write: FieldSet;
  /** The values that fill absent members of a new entity. Each is the only one that the grant allows. */
  set: ReadonlyMap<string, unknown>;
}

/** SQL and documents name the creator of a row so. */
export const isOwnRow: Filter = {
  kind: 'compare',
  field: ['$createdBy'],
  type: 'string',
  operator: '=',
  operand: { kind: 'variable', name: 'user.name', type: 'string' },
};

const withoutRule = { read: allFields, write: allFields, set: new Map<string, unknown>() };

export const anyGrant: Grant = { kind: 'any', filter: everyEntity, check: everyEntity, ...withoutRule };
/** A create fulfils it always. */
export const ownGrant: Grant = { kind: 'own', filter: isOwnRow, check: everyEntity, ...withoutRule };

/** The default of `read` of a grant with a rule for another action than `read`. */
export const shownByChange: FieldSet = noFields;

/** Whether the grant covers all rows. */
export const coversAll = ({ filter }: Grant): boolean => isEveryEntity(filter);
