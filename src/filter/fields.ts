/** The fields that a filter or a sort can name, and the types by which their values are compared. */
import type { Filter } from './syntax.ts';

/**
 * How two values of a field compare. `date-time`: an instant of whole microseconds, as the envelope and the fields of rules have it; `instant`: one with all its
 * digits. `folded`: a text without regard to case and accents. `any`: by the JSON type of the value in the filter.
 */
export type ScalarType = 'string' | 'folded' | 'number' | 'int64' | 'decimal' | 'date-time' | 'instant' | 'date' | 'boolean' | 'enum';

export interface ArrayType {
  items: ScalarType | 'any';
}

/** `any`: the name has no declared type, or its schema does not say which one type the field has. */
export type FieldType = ScalarType | ArrayType | 'object' | 'any';

/**
 * A field of an entity, by the names from its root down: `['address', 'city']`. A name that begins with `$` is in the envelope of the entity,
 * and not in its fields.
 */
export type Field = readonly string[];

/** The name of an entity, which the service makes of its fields. It is in no envelope. */
export const labelField: Field = ['$label'];

/** Whether a filter or a sort that names this names the label. */
export const isLabelName = (name: string, { labelParts }: Pick<FieldTypes, 'labelParts'>): boolean =>
  labelParts !== undefined && name === labelField[0];

export const isLabel = (field: Field): boolean => field.length === 1 && field[0] === labelField[0];

/** The types of the fields of one entity name. */
export interface FieldTypes {
  /** The type of the field; undefined for one that the declared type does not have. */
  typeOf(field: Field): FieldType | undefined;
  /** Whether the declared type says something of the field. Without this member no type is declared. */
  declares?(field: Field): boolean;
  /** The texts that a field of the type `enum`, or an item of an array of it, may be. Without this member any text is accepted. */
  textsOf?(field: Field): readonly string[] | undefined;
  /** The language whose order the texts of the field have in a sort; undefined for that of code points. Without this member no field has one. */
  collationOf?(field: Field): string | undefined;
  /**
   * The most characters of the folded texts of the field in their column; `unindexed` if an index could give it one, undefined for a field that is no text. Without
   * this member no field has folded texts.
   */
  foldingOf?(field: Field): number | 'unindexed' | undefined;
  /** The fields of which the names of entities are made, if a filter and a sort may name `$label`. Without this member they may not. */
  labelParts?: readonly Field[] | undefined;
  /** What the field refers to; undefined for a field that is no reference. Without this member no filter looks through references. */
  targetOf?(field: Field): Target | undefined;
  /** The reference to this name that the text `name.field` has; undefined if there is none. Without this member nothing refers to it. */
  referrerOf?(reference: string): Referrer | undefined;
}

/** The entities that a reference leads to: their name, and the types of their fields. */
export interface Target {
  name: string;
  fields: FieldTypes;
}

/** The entities that lead to one by a reference. */
export interface Referrer extends Target {
  /** The field that leads to it. */
  by: Field;
  /** The entry of `x-index` without which it costs too much to find those that fulfil the filter; empty if no entry helps, undefined if it costs little. */
  lackedIndex(filter: Filter): readonly string[] | undefined;
}

/** The fields of a name without a declared type: all exist. */
export const undeclaredFields: FieldTypes = { typeOf: () => 'any', foldingOf: () => 'unindexed' };

/** The members of the envelope, with their types. */
export const envelopeTypes = {
  $key: 'int64',
  $version: 'number',
  $createdAt: 'date-time',
  $createdBy: 'string',
  $updatedAt: 'date-time',
  $updatedBy: 'string',
} as const satisfies Record<`$${string}`, ScalarType>;

export type EnvelopeName = keyof typeof envelopeTypes;

/** Whether the name is that of a member of the envelope. */
export function isEnvelopeName(name: string | undefined): name is EnvelopeName {
  return name !== undefined && Object.hasOwn(envelopeTypes, name);
}

/** Whether the field is in the envelope of the entity. */
export function isOfEnvelope([name]: Field): boolean {
  return isEnvelopeName(name);
}

/** Whether the field is the entity's key. */
export function isKey(field: Field): boolean {
  return field.length === 1 && field[0] === '$key';
}
