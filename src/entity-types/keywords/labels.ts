/** `x-labels`: what the values of `enum` and `const` are called. */
import type { Languages } from '../../locales/negotiate.ts';
import type { Fault } from '../../problems/faults.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { isSchemaObject, type Schema } from '../subschemas.ts';
import { faultsOfText, maximumTitle, textFor } from './texts.ts';

export const labelsKeyword = 'x-labels';

/** The values that a schema lists, as the names of labels; those that are no objects. */
export function valuesListed(schema: Schema): (string | number | boolean | null)[] {
  const { enum: listed } = schema;
  const values: unknown[] = Array.isArray(listed) ? listed : 'const' in schema ? [schema['const']] : [];
  return values.filter((value) => value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean');
}

/** The faults of `x-labels`, whose names are values that the same schema lists. */
export function faultsOfLabels(schema: Schema, pointer: string): Fault[] {
  const labels = schema[labelsKeyword];
  if (!isSchemaObject(labels)) return [{ pointer, code: 'invalid-type', values: { allowed: 'object' } }];
  const values = new Set(valuesListed(schema).map(String));
  return Object.entries(labels).flatMap(([name, text]): Fault[] => {
    const place = pointer + pointerTo([name]);
    if (!values.has(name))
      return [{ pointer: place, code: 'invalid-value', ...(values.size > 0 && { values: { allowed: [...values].join(', ') } }) }];
    return faultsOfText(text, place, maximumTitle);
  });
}

/** The label of a value in the language of the caller; undefined for a value without one. */
export function labelFor(languages: Languages, schema: Schema, value: string | number | boolean | null): string | undefined {
  const labels = schema[labelsKeyword];
  const name = String(value);
  return isSchemaObject(labels) && Object.hasOwn(labels, name) ? textFor(languages, labels[name], undefined) : undefined;
}
