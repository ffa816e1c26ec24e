/** Makes the validator of a type from its document. */
import { compileSchema, createQuickAjv } from '../contract/every-error.ts';
import type { Companion } from '../companion/layout.ts';
import type { RuleKeywords } from '../companion/rules.ts';
import type { TypeSource } from '../database/tables.ts';
import { trashKeepOf } from '../entities/removal/trash.ts';
import { faultsOf } from '../http/validation-faults.ts';
import { fieldTypesOf } from './field-types.ts';
import { requiresIfMatch, schemaOf } from './document.ts';
import { linearPattern } from './linear-pattern.ts';
import { acceptsPatchOf } from './patches.ts';
import type { Schema } from './subschemas.ts';
import type { EntityType } from './types.ts';

/** Makes the patterns of callers, which take linear time. */
function compilePattern(pattern: string): Pick<RegExp, 'test'> {
  const compiled = linearPattern(pattern);
  if (!compiled) throw new Error('a pattern that faultsOfDocument has refused');
  return compiled;
}
/** Ajv wants it for validators that are written to files, of which there are none. */
compilePattern.code = '';

/** The type with this document, which `faultsOfDocument` has accepted. */
export function compileType(revision: string, document: Schema, source: TypeSource, companion: Companion | null = null): EntityType {
  const schema = schemaOf(document);
  const { 'x-collation': collated = {} }: RuleKeywords = document;
  const collations = new Map(Object.entries(collated));
  // Otherwise each object had the members of Object.prototype, such as `valueOf`.
  const options = { ownProperties: true, code: source === 'api' ? { regExp: compilePattern } : {} };
  const validate = compileSchema(schema, undefined, options);
  return {
    revision,
    document,
    check(fields, sent = () => fields) {
      if (!validate(fields)) throw faultsOf(validate.errors ?? [], 'body', sent());
    },
    acceptsPatch: acceptsPatchOf(schema, (ofMembers) => createQuickAjv(options).compile(ofMembers)),
    fields: { ...fieldTypesOf(schema), collationOf: (field) => collations.get(field.join('.')) },
    isPlaceholder: false,
    mayBeUnfit: false,
    requiresIfMatch: requiresIfMatch(document),
    trashKeep: trashKeepOf(document['x-soft-delete']),
    companion,
  };
}
