/**
 * Documents as the database has them. A declaration of this version has accepted most of them. Another one, of an earlier version or changed in the database,
 * may have keywords whose values this version does not read.
 */
import { pathOf, pointerTo } from '../problems/pointer.ts';
import { validationSchema } from '../json-schema/meta-schema.ts';
import { compileSchema } from '../json-schema/validator.ts';
import { faultsOfServiceKeyword, schemaOf, trashKeyword } from './document.ts';
import { fieldTypesOf } from './field-types.ts';
import { unreadableRules } from './rule-keywords.ts';
import { deepestSchema, isSchemaObject, walkSchemas, type Schema } from './subschemas.ts';
import { validatorOptions } from './validator.ts';

const form = compileSchema(validationSchema, validatorOptions('files'));
/** Keywords that version 0.1.0 tested, and this one does not. */
const formerKeywords = ['dependencies', '$recursiveRef'];

/** The pointers of what this version does not read, none if it reads all. Whether a validator can be made shows its compilation. */
export function unreadablePlaces(document: unknown): string[] {
  if (!isSchemaObject(document)) return [''];
  const places = form.errorsOf(schemaOf(document)).map(({ instancePath }) => instancePath);
  walkSchemas(document, deepestSchema, (schema, pointer) => {
    if (isSchemaObject(schema)) places.push(...formerKeywords.filter((name) => name in schema).map((name) => pointer + pointerTo([name])));
  });
  return [...new Set([...places, ...unreadableService(document)])];
}

/**
 * The document for readers of its rules and of the other keywords of the service: without those whose values this version does not read. The same object if it reads all of
 * them. A value of `x-soft-delete` that it does not read stands for the usual time, so that nothing is lost.
 */
export function readableDocument(document: unknown): Schema {
  if (!isSchemaObject(document)) return {};
  const unread = new Set(unreadableService(document).map((place) => pathOf(place)[0]));
  if (unread.size === 0) return document;
  const read = Object.fromEntries(Object.entries(document).filter(([keyword]) => !unread.has(keyword)));
  return unread.has(trashKeyword) ? { ...read, [trashKeyword]: true } : read;
}

function unreadableService(document: Schema): string[] {
  const faults = Object.entries(document).flatMap(([keyword, value]) => faultsOfServiceKeyword(keyword, value, pointerTo([keyword])) ?? []);
  return [...faults.map(({ pointer = '' }) => pointer), ...unreadableRules(document, fieldTypesOf(schemaOf(document)))];
}
