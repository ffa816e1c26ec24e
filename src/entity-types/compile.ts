/** Makes the validator of a type from its document. */
import { isDeepStrictEqual } from 'node:util';
import { readableCompanion, type Companion } from '../companion/layout.ts';
import { Problem } from '../errors.ts';
import type { FieldTypes } from '../filter/fields.ts';
import type { RuleKeywords } from '../companion/rules.ts';
import type { TypeSource } from '../database/tables.ts';
import { trashKeepOf } from '../entities/removal/trash.ts';
import { faultsOf } from '../http/validation-faults.ts';
import { compileSchema } from '../json-schema/validator.ts';
import { fieldTypesOf } from './field-types.ts';
import { requiresIfMatch, schemaOf } from './document.ts';
import { misspeltFinder } from './spellings.ts';
import { acceptsPatchOf } from './patches.ts';
import type { Schema } from './subschemas.ts';
import type { EntityType } from './types.ts';
import { validatorOptions } from './validator.ts';

/** The type with this document, which `faultsOfDocument` has accepted. */
export function compileType(revision: string, document: Schema, source: TypeSource, companion: Companion | null = null): EntityType {
  const schema = schemaOf(document);
  const { 'x-collation': collated = {} }: RuleKeywords = document;
  const collations = new Map(Object.entries(collated));
  const options = validatorOptions(source);
  const validator = compileSchema(schema, options);
  const findMisspelt = misspeltFinder(schema, companion);
  const acceptsPatch = acceptsPatchOf(schema, (ofMembers) => compileSchema(ofMembers, options).accepts);
  return {
    revision,
    document,
    check(fields, sent = () => fields) {
      if (!validator.accepts(fields)) throw faultsOf(validator.errorsOf(fields), 'body', sent());
      const faults = findMisspelt(fields);
      if (faults.length > 0) throw new Problem('validation-failed', { faults });
    },
    acceptsPatch: (patch) => acceptsPatch(patch) && findMisspelt(patch).length === 0,
    fields: { ...exactTypes(fieldTypesOf(schema), companion), collationOf: (field) => collations.get(field.join('.')) },
    isPlaceholder: false,
    mayBeUnfit: false,
    requiresIfMatch: requiresIfMatch(document),
    trashKeep: trashKeepOf(document['x-soft-delete']),
    companion,
  };
}

/** The types of the fields as they are compared: an instant that no column has with all its digits. */
function exactTypes(types: FieldTypes, companion: Companion | null): FieldTypes {
  const columns = (companion && readableCompanion(companion)?.columns) ?? [];
  return {
    ...types,
    typeOf(field) {
      const type = types.typeOf(field);
      return type === 'date-time' && !columns.some((column) => isDeepStrictEqual(column.field, field)) ? 'instant' : type;
    },
  };
}
