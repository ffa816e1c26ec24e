/** Makes the validator of a type from its document. */
import type { Companion } from '../companion/layout.ts';
import type { RuleKeywords } from '../companion/rules.ts';
import type { TypeSource } from '../database/tables.ts';
import { trashKeepOf } from '../entities/removal/trash.ts';
import { faultsOf } from '../http/validation-faults.ts';
import { compileSchema } from '../json-schema/validator.ts';
import { fieldTypesOf } from './field-types.ts';
import { requiresIfMatch, schemaOf } from './document.ts';
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
  return {
    revision,
    document,
    check(fields, sent = () => fields) {
      if (!validator.accepts(fields)) throw faultsOf(validator.errorsOf(fields), 'body', sent());
    },
    acceptsPatch: acceptsPatchOf(schema, (ofMembers) => compileSchema(ofMembers, options).accepts),
    fields: { ...fieldTypesOf(schema), collationOf: (field) => collations.get(field.join('.')) },
    isPlaceholder: false,
    mayBeUnfit: false,
    requiresIfMatch: requiresIfMatch(document),
    trashKeep: trashKeepOf(document['x-soft-delete']),
    companion,
  };
}
