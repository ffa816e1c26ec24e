/**
 * The rules of a write: the one place that refuses a change of an entity, or its removal, for its precondition, its size, or its fields (403, 412, 413, 422 and 428).
 */
import type { EntityType } from '../../entity-types/types.ts';
import { findFault, jsonLimits } from '../../json/json.ts';
import { parseJson } from '../../json/parse-json.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import type { Companion, CompanionValues } from '../companion/layout.ts';
import { companionValues } from '../companion/values.ts';
import { acceptedVersions } from '../etag.ts';
import { expansionOf } from '../stored-size.ts';
import type { ChangeRule } from '../../rights/change-rule.ts';
import type { Judgement } from './judgement.ts';
import { knownFaults, type KnownMembers } from './known-faults.ts';
import type { Versions } from './statements.ts';

/** The caller's expectation of the entity that it changes. */
export interface Guard {
  /** The versions that the caller accepts; null accepts any. */
  versions: Versions;
  /** Whether the caller has named versions, or has said that any will do. */
  isGuarded: boolean;
}

/** The guard of the header If-Match. Throws as {@link acceptedVersions}. */
export const guardOfHeader = (ifMatch: string | undefined): Guard => ({
  versions: acceptedVersions(ifMatch),
  isGuarded: ifMatch !== undefined,
});

/** The guard that accepts this version alone; undefined is no guard. */
export const guardOfVersion = (version: string | undefined): Guard => ({
  versions: version === undefined ? null : [version],
  isGuarded: version !== undefined,
});

/** The fields that an entity is to have. */
export interface NextFields {
  /** JSON text of an object. */
  text: string;
  /** The same, parsed; undefined if it is not parsed yet. */
  fields?: unknown;
  /** JSON text of the patch that has made them; undefined if the caller has sent all of them. */
  patch?: string;
  /** The most bytes of the fields as PostgreSQL writes them; undefined if {@link requireEntityLimits} has compared their size. */
  limitBytes?: number;
  /** Whether PostgreSQL has written `text`, so that it has the bytes of the stored fields. */
  isStoredText?: boolean;
  /** Whether they are merged into those of an entity later. The type then checks the merged fields, and not these. */
  isPart?: boolean;
}

/** A change of one entity. */
export interface WantedChange {
  /** The judgement by the rules of the permit; undefined for a permit without rules. */
  judgement?: Judgement | undefined;
  /** The rule of the permit, if there is one, where the judgement comes later. */
  rule?: ChangeRule | undefined;
  type: EntityType | undefined;
  /** Undefined where there is no precondition, as of a new entity. */
  guard?: Guard;
  /** The entity as it is; undefined for a new one. */
  state?: { version: string };
  next: NextFields;
}

/** The findings of the process about fields, which the statement that writes them relies on. */
export interface Checked {
  /** The revision of the type of their name; 0 for none. */
  typeRevision: string;
  /** The row of the companion table; undefined for a name without one, and for a change that does not concern it. */
  companion: { layout: Companion; values: CompanionValues } | undefined;
}

/** Fields that the process has checked against the type of their name. */
export interface CheckedFields extends Checked {
  /** JSON text of an object. */
  fields: string;
}

/** The facts of fields of a name without a type. */
export const untyped: Checked = { typeRevision: '0', companion: undefined };

/**
 * Returns what the statement needs to know of the fields. Throws
 * - 412, 428: as {@link requirePrecondition}.
 * - 403: the rules of the permit do not allow a field, or its value. The caller calls `requireAcceptedTargets` once the references are known to be allowed.
 * - 413: the fields are too large.
 * - 422: they do not fit the type, or have a text that no index can hold.
 */
export function allowChange({ judgement, rule, type, guard, state, next }: WantedChange): Checked {
  const { text, limitBytes, isStoredText = false } = next;
  if (guard && state) requirePrecondition(type, guard, state.version);
  judgement?.requireWritable();
  if (limitBytes !== undefined && isStoredText) requireSize(Buffer.byteLength(text), limitBytes);
  else if (limitBytes !== undefined) requireStoredSize(text, limitBytes);
  const checked = type ? checkFields(type, next, { judgement, rule: judgement?.rule ?? rule }) : untyped;
  judgement?.requireAcceptedFields();
  return checked;
}

function checkFields(
  type: EntityType,
  { text, patch, isPart = false, ...next }: NextFields,
  { judgement, rule }: Pick<WantedChange, 'judgement' | 'rule'>,
): Checked {
  const fields = next.fields ?? parseJson(text);
  const check = () => type.check(fields, patch === undefined ? undefined : () => parseJson(patch));
  const isPlace = (member: string) =>
    judgement?.isKnown(member) ?? (Object.hasOwn(fields as object, member) || rule?.isEverKnown(member) === true);
  if (!isPart && rule) withKnownFaults(type, { isPlace, isName: (name) => rule.isEverKnown(name) }, check);
  else if (!isPart) check();
  const layout = type.companion;
  return { typeRevision: type.revision, companion: layout ? { layout, values: companionValues(layout, fields) } : undefined };
}

/** Runs `check`. The faults that it throws tell of no field that the caller does not know. */
function withKnownFaults(type: EntityType, members: KnownMembers, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof Problem) throw error.withFaults(knownFaults(error.faults, type, members));
    throw error;
  }
}

/** Whether the type requires If-Match and the caller has not sent it. */
export const lacksGuard = (type: EntityType | undefined, { isGuarded }: Guard): boolean => type?.requiresIfMatch === true && !isGuarded;

/** Throws 428 if the type requires If-Match and the caller has not sent it, and 412 if the caller does not accept the version. */
export function requirePrecondition(type: EntityType | undefined, guard: Guard, version: string): void {
  if (lacksGuard(type, guard)) throw new Problem('precondition-required');
  if (guard.versions && !guard.versions.includes(version)) throw unmetPrecondition();
}

/** 412: there is no entity and the caller expects one, or the other way round. */
export const unmetPrecondition = (): Problem => new Problem('precondition-failed');

/** Throws 413 if PostgreSQL would write the JSON text of more bytes. */
export function requireStoredSize(text: string, limitBytes: number): void {
  requireSize(Buffer.byteLength(text) + expansionOf(text), limitBytes);
}

function requireSize(bytes: number, limitBytes: number): void {
  if (bytes > limitBytes) throw sizeProblem(limitBytes);
}

/**
 * Throws 413 or 422 unless the JSON text of an object is within the limits of a body that has one entity (rule 70). `readJson` must have accepted the text
 * with wider ones.
 */
export function requireEntityLimits(text: string, limitBytes: number): void {
  requireSize(Buffer.byteLength(text), limitBytes);
  requireStoredSize(text, 2 * limitBytes);
  // A value takes two characters at least.
  const fault = text.length > 2 * jsonLimits.values ? findFault(text, jsonLimits) : undefined;
  if (fault) throw validationProblem([fault]);
}

/** 413 with the limit in bytes. */
export const sizeProblem = (limit: number): Problem => new Problem('content-too-large', { values: { limit } });

/** 422 with these faults. */
export const validationProblem = (faults: readonly Fault[]): Problem => new Problem('validation-failed', { faults });

/** Throws {@link validationProblem} if there is a fault. */
export function requireNoFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw validationProblem(faults);
}
