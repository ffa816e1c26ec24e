/** The document of a type with the texts of its author in the language of the caller. */
import type { Languages } from '../locales/negotiate.ts';
import { labelFor, labelsKeyword, valuesListed } from './keywords/labels.ts';
import { descriptionKeyword, descriptionOf, titleKeyword, titleOf } from './keywords/texts.ts';
import { isSchemaObject, mapSubschemas, type Schema } from './subschemas.ts';

/**
 * A copy of the document whose `title` and `description` are in the language of the caller, and whose `x-labels` have one text for each value. A document
 * without texts in languages is the same object.
 */
export function localizedDocument(languages: Languages, document: Schema): Schema {
  return /"x-(?:title|description|labels)":/.test(JSON.stringify(document)) ? localized(languages, document) : document;
}

function localized(languages: Languages, schema: Schema): Schema {
  const { [titleKeyword]: _title, [descriptionKeyword]: _description, [labelsKeyword]: _labels, $defs, definitions, ...rest } = schema;
  const inner = (each: unknown) => (isSchemaObject(each) ? localized(languages, each) : each);
  const definitionsOf = (some: unknown) =>
    isSchemaObject(some) ? Object.fromEntries(Object.entries(some).map(([name, each]) => [name, inner(each)])) : some;
  const [title, description] = [titleOf(languages, schema), descriptionOf(languages, schema)];
  const labels = valuesListed(schema).flatMap((value) => {
    const label = labelFor(languages, schema, value);
    return label === undefined ? [] : [[String(value), label] as const];
  });
  return {
    ...mapSubschemas(rest, inner),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(labels.length > 0 && { [labelsKeyword]: Object.fromEntries(labels) }),
    ...($defs !== undefined && { $defs: definitionsOf($defs) }),
    ...(definitions !== undefined && { definitions: definitionsOf(definitions) }),
  };
}
