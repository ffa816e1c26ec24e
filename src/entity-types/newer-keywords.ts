/** The keywords of types that processes of an older version do not know (decision 348). */
import type { KnownRight } from '../database/processes.ts';
import { formKeyword, zoneKeyword } from './keywords/form.ts';
import { labelsKeyword } from './keywords/labels.ts';
import { descriptionKeyword, titleKeyword } from './keywords/texts.ts';
import { sensitiveFields } from './document.ts';
import { deepestSchema, isSchemaObject, walkSchemas, type Schema } from './subschemas.ts';

/** The knowledge that a process needs for a type with the keyword. */
const knowledgeOf: Readonly<Record<string, KnownRight>> = {
  [titleKeyword]: 'texts',
  [descriptionKeyword]: 'texts',
  [labelsKeyword]: 'texts',
  [formKeyword]: 'texts',
  [zoneKeyword]: 'texts',
  'x-label': 'names',
};

/** The knowledge that a process needs for the new document, and not for the one in force. */
export function newKnowledge(inForce: Schema | undefined, document: Schema | null): Set<KnownRight> {
  const [before, after] = [knowledgeIn(inForce ?? {}), knowledgeIn(document ?? {})];
  const needed = new Set([...after].filter((each) => !before.has(each)));
  const known = sensitiveFields(inForce ?? {});
  // A process that does not know the keyword shows each field that has it.
  if ([...sensitiveFields(document ?? {})].some((field) => !known.has(field))) needed.add('sensitive');
  return needed;
}

function knowledgeIn(document: Schema): Set<KnownRight> {
  const found = new Set<KnownRight>();
  walkSchemas(document, deepestSchema, (schema) => {
    const keywords = isSchemaObject(schema) ? Object.keys(schema) : [];
    for (const keyword of keywords) {
      const needed = Object.hasOwn(knowledgeOf, keyword) ? knowledgeOf[keyword] : undefined;
      if (needed) found.add(needed);
    }
  });
  return found;
}
