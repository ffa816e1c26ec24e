/** The rules in the document of an entity type, and the companion table that they need. */
import { isDeepStrictEqual } from 'node:util';
import { labelField, type envelopeTypes, type Field, type FieldTypes, type ScalarType } from '../../filter/fields.ts';
import { readField } from '../../filter/sort.ts';
import type { Companion, CompanionColumn, CompanionIndex, CompanionReference, CompanionSubstring, CompanionUnique } from './layout.ts';

const [labelName = ''] = labelField;

/** The names of the keywords. */
export const ruleKeywords = ['x-unique', 'x-index', 'x-references', 'x-search', 'x-collation', 'x-label'] as const;

/** An index of a text, or with `substring` of its parts; with `fold` of the text without regard to case and accents. */
interface TextIndexRule {
  field: string;
  substring?: true;
  fold?: true;
}

/** The fields of an index, of which those with a `-` in front are descending; or an index of one text. */
export type IndexRule = readonly string[] | TextIndexRule;

export const isTextIndexRule = (rule: IndexRule): rule is TextIndexRule => !Array.isArray(rule);

/** The keywords of a document, as `entity-types/rule-keywords.ts` has accepted them. A dot in a name leads into an object. */
export interface RuleKeywords {
  'x-unique'?: readonly { fields: readonly string[]; fold?: boolean }[];
  'x-index'?: readonly IndexRule[];
  /** By the name of the field. */
  'x-references'?: Readonly<Record<string, { to: string; onDelete?: CompanionReference['onDelete'] }>>;
  'x-search'?: { fields: readonly string[]; language?: string };
  /** The fields whose values are the name of an entity. */
  'x-label'?: readonly string[];
  /** The language of the texts of a field, by the name of the field. */
  'x-collation'?: Readonly<Record<string, string>>;
}

/** The members of the envelope that an index may have. The key is the end of every index. */
const indexedMembers = { $createdAt: 'date-time', $createdBy: 'string', $updatedAt: 'date-time' } as const satisfies Partial<
  typeof envelopeTypes
>;

/** The type of the member of the envelope with this name, if an index may have it. */
export function indexedMember(name: string): ScalarType | undefined {
  return Object.hasOwn(indexedMembers, name) ? indexedMembers[name as keyof typeof indexedMembers] : undefined;
}

interface RuleField {
  field: Field;
  type: ScalarType;
  label?: readonly Field[] | undefined;
}

export interface Rules {
  uniques: readonly { fields: readonly RuleField[]; fold: boolean }[];
  indexes: readonly (readonly (RuleField & { descending: boolean; collation: string | undefined })[])[];
  substrings: readonly RuleField[];
  references: readonly (RuleField & Pick<CompanionReference, 'to' | 'onDelete'>)[];
  search: { fields: readonly Field[]; language: string } | undefined;
  /** The names of entities, each in its order; none without `x-label`. */
  labels: readonly (RuleField & { collation: string | undefined })[];
}

/** The rules of an accepted document, whose fields have `types`. */
export function rulesOf(keywords: RuleKeywords, types: FieldTypes): Rules {
  const fieldAt = (name: string): RuleField => {
    const found = readField(name, types);
    if (!('field' in found) || typeof found.type !== 'string' || found.type === 'object' || found.type === 'any')
      throw new Error(`a rule names ${name}, which is no field with one scalar type`);
    return { field: found.field, type: found.type };
  };
  const parts = keywords['x-label']?.map((name) => fieldAt(name).field);
  const indexedAt = (name: string): RuleField => {
    if (parts && name === labelField[0]) return { field: labelField, type: 'string', label: parts };
    const member = indexedMember(name);
    return member ? { field: [name], type: member } : fieldAt(name);
  };
  const { 'x-search': search, 'x-collation': collations = {} } = keywords;
  const orderedAt = (written: string) => {
    const name = written.replace(/^-/, '');
    const collation = Object.hasOwn(collations, name) ? collations[name] : undefined;
    return { ...indexedAt(name), descending: written !== name, collation };
  };
  const indexes = keywords['x-index'] ?? [];
  const textAt = ({ field, fold }: TextIndexRule): RuleField => ({ ...fieldAt(field), ...(fold && { type: 'folded' }) });
  return {
    uniques: (keywords['x-unique'] ?? []).map(({ fields, fold = false }) => ({ fields: fields.map(fieldAt), fold })),
    indexes: indexes.flatMap((rule) => {
      if (!isTextIndexRule(rule)) return [rule.map(orderedAt)];
      return rule.substring ? [] : [[{ ...textAt(rule), descending: false, collation: undefined }]];
    }),
    substrings: indexes.filter(isTextIndexRule).flatMap((rule) => (rule.substring ? [textAt(rule)] : [])),
    references: Object.entries(keywords['x-references'] ?? {}).map(([name, { to, onDelete = 'restrict' }]) =>
      Object.assign(fieldAt(name), { to, onDelete }),
    ),
    search: search && { fields: search.fields.map((name) => fieldAt(name).field), language: search.language ?? 'simple' },
    labels: parts
      ? [...new Set([undefined, collations[labelName]])].map((collation) => ({
          field: labelField,
          type: 'string',
          label: parts,
          collation,
        }))
      : [],
  };
}

/** The fields whose texts have an index without regard to case and accents. */
export function foldedFields({ indexes, substrings }: Rules): Field[] {
  return [...indexes.flat(), ...substrings].flatMap(({ field, type }) => (type === 'folded' ? [field] : []));
}

/** Characters of a text that all texts of an index share. PostgreSQL takes up to 4 bytes for each. */
export const indexedLength = 600;
/** The most characters of the name of an entity. */
const labelLength = 200;
/** Characters of a text whose parts an index finds. PostgreSQL takes 3 ms for the trigrams of so many. */
const substringLength = 10_000;

/** Whether values of the type are texts in the companion table. */
export const isText = (type: ScalarType): boolean => type === 'string' || type === 'folded' || type === 'enum' || type === 'date';

/**
 * The companion table of a type with these rules, number `id`, in the state `ready`. What `previous`, the table until now, has for the same fields keeps its name.
 * Null for a type without rules that no other type refers to.
 */
export function companionOf(rules: Rules, id: number, previous: Companion | null, isReferenced: boolean): Companion | null {
  const { uniques, indexes, substrings, references, search, labels } = rules;
  const count = uniques.length + indexes.length + substrings.length + references.length + labels.length;
  if (!isReferenced && !search && count === 0) return null;
  return new RuleLayout(`x${id}`, previous).companion(rules);
}

class RuleLayout {
  readonly #table: string;
  readonly #previous: Companion | null;
  readonly #columns: CompanionColumn[] = [];
  #next: number;

  constructor(table: string, previous: Companion | null) {
    this.#table = table;
    this.#previous = previous;
    this.#next = previous?.next ?? 1;
  }

  companion({ uniques, indexes, substrings, references, search, labels }: Rules): Companion {
    const previous = this.#previous;
    const columnsOf = (fields: readonly (RuleField & { collation?: string | undefined })[], fold = false) => {
      const length = Math.floor(indexedLength / fields.filter(({ type }) => isText(type)).length);
      return fields.map((field) => this.#column(field, fold && isText(field.type) && field.type !== 'date', length));
    };
    const layout = {
      uniques: this.#named<Omit<CompanionUnique, 'name'>>(
        'u',
        previous?.uniques,
        uniques.map(({ fields, fold }) => ({ columns: columnsOf(fields, fold) })),
      ),
      indexes: this.#named<Omit<CompanionIndex, 'name'>>(
        'i',
        previous?.indexes,
        [...indexes, ...references.map((reference) => [{ ...reference, descending: false, collation: undefined }])].map((fields) => ({
          columns: columnsOf(fields).map((name, at) => ({ name, descending: fields[at]?.descending === true })),
        })),
      ),
      substrings: this.#named<Omit<CompanionSubstring, 'name'>>(
        's',
        previous?.substrings,
        substrings.map((field) => ({ column: this.#column(field, false, substringLength) })),
      ),
      references: this.#named<Omit<CompanionReference, 'name'>>(
        'r',
        previous?.references,
        references.map(({ field, type, to, onDelete }) => ({ column: this.#column({ field, type }, false), to, onDelete })),
        (one, other) => one.column === other.column && one.to === other.to,
      ),
      search: search && {
        texts: search.fields.map((field, index) => ({ name: `t${index + 1}`, field })),
        language: search.language,
        isFolded: true as const,
      },
    };
    for (const label of labels) this.#column(label, false, labelLength);
    return { table: this.#table, columns: this.#columns, ...layout, next: this.#next, state: 'ready' };
  }

  /** The name of the column of the field. A text must fit the index with the least room for it. */
  #column({ field, type, label, collation }: RuleField & { collation?: string | undefined }, fold: boolean, length?: number): string {
    const isColumn = (each: CompanionColumn) =>
      isDeepStrictEqual(each.label, label) &&
      each.type === type &&
      each.fold === fold &&
      each.collation === collation &&
      isDeepStrictEqual(each.field, field);
    const known = this.#columns.find(isColumn);
    const most = label ? labelLength : Infinity;
    const maximumLength = isText(type) ? Math.min(length ?? Infinity, known?.maximumLength ?? Infinity, most) : undefined;
    if (known) {
      known.maximumLength = maximumLength;
      return known.name;
    }
    const name = this.#previous?.columns.find(isColumn)?.name ?? `c${this.#next++}`;
    this.#columns.push({ name, field, type, fold, maximumLength, ...(collation !== undefined && { collation }), ...(label && { label }) });
    return name;
  }

  /** The different ones of `wanted`, each with its name. */
  #named<T extends object>(
    kind: 'u' | 'i' | 's' | 'r',
    previous: readonly (T & { name: string })[] = [],
    wanted: readonly T[],
    isSame = (one: T, other: T): boolean => isDeepStrictEqual({ ...one, name: '' }, { ...other, name: '' }),
  ): (T & { name: string })[] {
    const different = wanted.filter((each, index) => !wanted.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, each)));
    return different.map((each) => {
      const same = previous.find((known) => isSame(known, each));
      return Object.assign({ name: same?.name ?? `${this.#table}_${kind}${this.#next++}` }, each);
    });
  }
}
