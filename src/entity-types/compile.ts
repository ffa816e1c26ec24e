/** Makes the validator of a type from its document. */
import { isDeepStrictEqual } from 'node:util';
import { labelColumn, readableCompanion, type Companion } from '../entities/companion/layout.ts';
import { Problem } from '../problems/errors.ts';
import type { FaultCode } from '../problems/faults.ts';
import type { Field, FieldTypes } from '../filter/fields.ts';
import type { RuleKeywords } from '../entities/companion/rule-layout.ts';
import type { TypeSource } from './store.ts';
import { trashRetention } from '../entities/retention.ts';
import { faultsOf } from '../problems/validation-faults.ts';
import { compileSchema } from '../json-schema/validator.ts';
import { PatternMeter } from '../sandbox/pattern-meter.ts';
import { declaredFields, fieldTypesOf } from './field-types.ts';
import { requiresIfMatch, schemaOf } from './document.ts';
import { misspeltFinder } from './spellings.ts';
import { acceptsPatchOf } from './patches.ts';
import { withinPatternWork } from './pattern-work.ts';
import type { Schema } from './subschemas.ts';
import type { EntityType } from './types.ts';
import { validatorOptions } from './validator.ts';

/** The type with this document, which `faultsOfDocument` has accepted. Throws `InvalidSchema` for others. */
export function compileType(revision: string, document: Schema, source: TypeSource, companion: Companion | null = null): EntityType {
  const schema = schemaOf(document);
  const meter = new PatternMeter();
  const options = validatorOptions(source, meter);
  const validator = compileSchema(schema, options);
  const acceptsPatch = acceptsPatchOf(schema, (ofMembers) => {
    const { accepts } = compileSchema(ofMembers, options);
    return (members) =>
      withinPatternWork(
        meter,
        () => members,
        () => accepts(members),
      );
  });
  const readable = readableType(revision, document, companion);
  const { findMisspelt } = readable;
  return {
    ...readable,
    check(fields, sent = () => fields) {
      const bounded = <T>(tests: () => T): T => withinPatternWork(meter, sent, tests);
      const first = bounded(() => validator.firstErrorOf(fields));
      if (first)
        throw faultsOf(
          bounded(() => validator.furtherErrorsOf(fields, first)),
          'body',
          sent(),
        );
      const faults = findMisspelt(fields);
      if (faults.length > 0) throw new Problem('validation-failed', { faults });
    },
    acceptsPatch: (patch) => acceptsPatch(patch) && findMisspelt(patch).length === 0,
  };
}

/**
 * The type of a stored document, none of whose fields can be checked for the reason `code`: nothing is written, and everything can be read.
 */
export function typeWithoutWrites(revision: string, document: Schema, code: FaultCode, companion: Companion | null = null): EntityType {
  return {
    ...readableType(revision, document, companion),
    check() {
      throw new Problem('validation-failed', { faults: [{ pointer: '', code }] });
    },
    acceptsPatch: () => false,
  };
}

/** The part of a type that concerns stored entities. */
function readableType(revision: string, document: Schema, companion: Companion | null): Omit<EntityType, 'check' | 'acceptsPatch'> {
  const { 'x-collation': collated = {} }: RuleKeywords = document;
  const collations = new Map(Object.entries(collated));
  const schema = schemaOf(document);
  let declared: readonly Field[] | undefined;
  return {
    revision,
    document,
    findMisspelt: misspeltFinder(schema, companion),
    fields: {
      ...comparedTypes(fieldTypesOf(schema), companion),
      labelParts: (companion ? labelColumn(companion) : undefined)?.label,
      collationOf: (field) => collations.get(field.join('.')),
    },
    declaredFields: () => (declared ??= declaredFields(schema)),
    isPlaceholder: false,
    mayBeUnfit: false,
    requiresIfMatch: requiresIfMatch(document),
    trashKeep: trashRetention(document['x-soft-delete']),
    companion,
  };
}

/**
 * The types of the fields as they are compared: an instant that no column has with all its digits, and texts that a column has folded
 * without case and accents.
 */
function comparedTypes(types: FieldTypes, companion: Companion | null): FieldTypes {
  const columns = (companion && readableCompanion(companion)?.columns) ?? [];
  const columnsOf = (field: Field) => columns.filter((column) => isDeepStrictEqual(column.field, field));
  return {
    ...types,
    typeOf(field) {
      const type = types.typeOf(field);
      return type === 'date-time' && columnsOf(field).length === 0 ? 'instant' : type;
    },
    foldingOf(field) {
      if (types.typeOf(field) !== 'string') return undefined;
      const column = columnsOf(field).find(({ type }) => type === 'folded');
      return column ? (column.maximumLength ?? Infinity) : 'unindexed';
    },
  };
}
