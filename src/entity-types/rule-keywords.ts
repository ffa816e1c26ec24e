/** The keywords of rules in the document of a type: `x-unique`, `x-index`, `x-references`, `x-search`, `x-collation` and `x-label`. */
import { indexedMember, isText, isTextIndexRule, ruleKeywords, rulesOf, type RuleKeywords } from '../entities/companion/rule-layout.ts';
import type { Fault } from '../problems/faults.ts';
import { labelField, type FieldTypes, type ScalarType } from '../filter/fields.ts';
import type { Unplaced } from '../filter/parse.ts';
import { readField, unknownField } from '../filter/sort.ts';
import { pointerTo } from '../problems/pointer.ts';
import { faultsOf } from '../problems/validation-faults.ts';
import { compileSchema } from '../json-schema/validator.ts';
import { allowsNull, declaresField } from './field-types.ts';
import { isSchemaObject, type Schema } from './subschemas.ts';
import { validatorOptions } from './validator.ts';

/** The text search configurations that PostgreSQL has from version 15 on. */
const languages = (
  'simple arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish italian ' +
  'lithuanian nepali norwegian portuguese romanian russian serbian spanish swedish tamil turkish yiddish'
).split(' ');
const maximumObjectDepth = 3;

const fieldName = { type: 'string', minLength: 1, maxLength: 256 };
const fieldNames = { type: 'array', minItems: 1, maxItems: 4, items: fieldName };
const ruleSchema = {
  type: 'object',
  properties: {
    'x-unique': {
      type: 'array',
      maxItems: 8,
      items: {
        type: 'object',
        required: ['fields'],
        additionalProperties: false,
        properties: { fields: { ...fieldNames, uniqueItems: true }, fold: { type: 'boolean' } },
      },
    },
    'x-index': {
      type: 'array',
      maxItems: 32,
      items: {
        ...fieldNames,
        type: ['array', 'object'],
        required: ['field'],
        if: { required: ['fold'] },
        else: { required: ['substring'] },
        additionalProperties: false,
        properties: { field: fieldName, substring: { const: true }, fold: { const: true } },
      },
    },
    'x-references': {
      type: 'object',
      maxProperties: 16,
      additionalProperties: {
        type: 'object',
        required: ['to'],
        additionalProperties: false,
        properties: {
          to: {
            type: 'string',
            pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$',
            'x-expected': { kind: 'characters', count: '1–64', characters: 'A–Z a–z 0–9 _ . -', first: 'A–Z a–z', example: 'customer' },
          },
          onDelete: { enum: ['restrict', 'cascade', 'set-null'] },
        },
      },
    },
    'x-search': {
      type: 'object',
      required: ['fields'],
      additionalProperties: false,
      properties: { fields: { ...fieldNames, maxItems: 8, uniqueItems: true }, language: { enum: languages } },
    },
    'x-label': { ...fieldNames, maxItems: 3, uniqueItems: true },
    'x-collation': {
      type: 'object',
      maxProperties: 16,
      additionalProperties: { type: 'string', pattern: '^(und|[a-z]{2,3})(-[A-Z][a-z]{3})?(-[A-Z]{2})?$', maxLength: 12 },
    },
  },
};
const form = compileSchema(ruleSchema, validatorOptions('files'));
/** They limit a declaration. A stored type that has more is read. */
const limits = ['maxItems', 'maxProperties'];

/** The document without its rules. */
export function withoutRules(document: Schema): Schema {
  return Object.fromEntries(Object.entries(document).filter(([keyword]) => !ruleKeywords.some((each) => each === keyword)));
}

/** The faults of the rules, given the document and the types of its fields. Whether a referenced name is declared is not looked at. */
export function faultsOfRules(document: Schema, types: FieldTypes): Fault[] {
  const keywords = Object.fromEntries(ruleKeywords.flatMap((keyword) => (keyword in document ? [[keyword, document[keyword]]] : [])));
  const errors = form.errorsOf(keywords);
  return errors.length > 0 ? [...faultsOf(errors, 'body', keywords).faults] : new RuleFaults(document, types).find(keywords);
}

/** The pointers of the rules of a stored document that `rulesOf` does not read. A rule may have other faults of {@link faultsOfRules} and stay in force. */
export function unreadableRules(document: Schema, types: FieldTypes): string[] {
  return ruleKeywords.flatMap((keyword) => {
    if (!(keyword in document)) return [];
    // An index may name the label.
    const rules = Object.fromEntries([keyword, 'x-label'].flatMap((name) => (name in document ? [[name, document[name]]] : [])));
    const errors = form.errorsOf(rules).filter((error) => !limits.includes(error.keyword));
    if (errors.length > 0) return errors.map(({ instancePath }) => instancePath);
    try {
      rulesOf(rules, types);
      return [];
    } catch {
      return new RuleFaults(document, types).find(rules).map(({ pointer = '' }) => pointer);
    }
  });
}

class RuleFaults {
  readonly #document: Schema;
  readonly #types: FieldTypes;
  readonly #faults: Fault[] = [];

  constructor(document: Schema, types: FieldTypes) {
    this.#document = document;
    this.#types = types;
  }

  find(keywords: RuleKeywords): Fault[] {
    const { 'x-unique': uniques = [], 'x-index': indexes = [], 'x-references': references = {}, 'x-search': search } = keywords;
    for (const [index, { fields, fold }] of uniques.entries()) {
      const types = fields.map((name, at) => this.#fieldType(name, ['x-unique', index, 'fields', at]));
      const isFoldable = types.some((type) => type === undefined || type === 'string' || type === 'enum');
      if (fold === true && !isFoldable) this.#refuse(['x-unique', index, 'fold'], { code: 'conflicting' });
    }
    for (const [index, rule] of indexes.entries()) {
      if (isTextIndexRule(rule)) {
        const place = ['x-index', index, 'field'];
        const type = this.#fieldType(rule.field, place);
        if (type !== undefined && type !== 'string') this.#refuse(place, { code: 'invalid-type', values: { allowed: 'string' } });
        continue;
      }
      const seen = new Set<string>();
      for (const [at, name] of rule.entries()) {
        const bare = name.replace(/^-/, '');
        if (seen.has(bare)) this.#refuse(['x-index', index, at], { code: 'repeated' });
        else if (!indexedMember(bare) && !this.#isLabel(bare)) this.#fieldType(bare, ['x-index', index, at]);
        seen.add(bare);
      }
    }
    for (const [name, { onDelete }] of Object.entries(references)) {
      const place = ['x-references', name];
      const type = this.#fieldType(name, place);
      if (type !== undefined && type !== 'int64')
        this.#refuse(place, { code: 'invalid-type', values: { allowed: 'string, format int64' } });
      else if (type && onDelete === 'set-null' && !allowsNull(this.#document, name.split('.')))
        this.#refuse([...place, 'onDelete'], { code: 'conflicting' });
    }
    for (const [at, name] of (search?.fields ?? []).entries()) {
      const place = ['x-search', 'fields', at];
      const type = this.#fieldType(name, place);
      if (type !== undefined && !isText(type)) this.#refuse(place, { code: 'invalid-type', values: { allowed: 'string' } });
    }
    for (const [at, name] of (keywords['x-label'] ?? []).entries()) this.#testPart(name, ['x-label', at], references);
    for (const name of Object.keys(keywords['x-collation'] ?? {})) {
      if (this.#isLabel(name)) continue;
      const type = this.#fieldType(name, ['x-collation', name]);
      if (type !== undefined && type !== 'string')
        this.#refuse(['x-collation', name], { code: 'invalid-type', values: { allowed: 'string' } });
    }
    return this.#faults;
  }

  #isLabel(name: string): boolean {
    return name === labelField[0] && 'x-label' in this.#document;
  }

  /** A name has the same text for every caller and in every language, and only what it is made of changes it. */
  #testPart(name: string, place: readonly (string | number)[], references: object): void {
    const type = this.#fieldType(name, place);
    if (type === undefined) return;
    if (!['string', 'number', 'decimal', 'int64', 'date'].includes(type))
      this.#refuse(place, { code: 'invalid-type', values: { allowed: 'string, number, integer, decimal, int64, date' } });
    else if (this.#isSensitive(name)) this.#refuse(place, { code: 'contradictory', values: { keyword: 'x-sensitive' } });
    else if (Object.hasOwn(references, name)) this.#refuse(place, { code: 'contradictory', values: { keyword: 'x-references' } });
  }

  #isSensitive(name: string): boolean {
    const { properties } = this.#document;
    const schema = isSchemaObject(properties) ? properties[name.split('.')[0] ?? ''] : undefined;
    return isSchemaObject(schema) && schema['x-sensitive'] === true;
  }

  /** The type of the field that a rule names; undefined, with a fault, if it has not one scalar type. */
  #fieldType(name: string, place: readonly (string | number)[]): ScalarType | undefined {
    const found = readField(name, this.#types);
    if ('code' in found) {
      this.#refuse(place, found);
      return undefined;
    }
    if (found.field.length > maximumObjectDepth) this.#refuse(place, { code: 'invalid-value', values: { maximum: maximumObjectDepth } });
    else if (!declaresField(this.#document, found.field)) this.#refuse(place, unknownField(name));
    else if (typeof found.type !== 'string' || found.type === 'object' || found.type === 'any')
      this.#refuse(place, { code: 'invalid-type', values: { allowed: 'string, number, integer, boolean' } });
    else return found.type;
    return undefined;
  }

  #refuse(place: readonly (string | number)[], fault: Unplaced): void {
    this.#faults.push({ ...fault, pointer: pointerTo(place) });
  }
}
