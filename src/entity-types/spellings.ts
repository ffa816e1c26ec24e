/**
 * The texts that a rule accepts. The columns of rules compare instants in microseconds, and other formats by code points. So a field that
 * a rule names takes one spelling of each value, and no instant between two microseconds: otherwise a unique rule would take two values
 * for one, or one for two (decision 211).
 */
import type { Companion } from '../entities/companion/layout.ts';
import { memberAt } from '../entities/companion/values.ts';
import { formats as declaredFormats } from '../contract/formats.ts';
import type { Fault } from '../problems/faults.ts';
import { isOfEnvelope, type Field } from '../filter/fields.ts';
import { wholeMicroseconds } from '../filter/values.ts';
import { pointerTo } from '../problems/pointer.ts';
import { formatsOf } from './field-types.ts';
import type { Schema } from './subschemas.ts';

interface Spelling {
  isTaken: (text: string) => boolean;
  example: string;
}

/** By format. Each other format has one spelling of a value, or is a number, or compares as a text. */
const spellings: Readonly<Record<string, Spelling>> = {
  'date-time': { isTaken: (text) => !wholeMicroseconds(text).isCut, example: '2026-11-22T14:30:00.123456Z' },
  time: { isTaken: (text) => /^\d\d:\d\d:[0-5]\d(?:\.\d{0,8}[1-9])?Z$/.test(text), example: '14:30:00Z' },
  uuid: {
    isTaken: (text) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text),
    example: '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17',
  },
  ipv6: { isTaken: (text) => hostOf(text) === `[${text}]`, example: '2001:db8::7' },
};

/** The address as the URL standard writes it, which is RFC 5952 without dotted decimals. */
function hostOf(address: string): string | undefined {
  return URL.parse(`http://[${address}]/`)?.hostname;
}

/** Returns the faults of fields whose texts a rule does not take. `fields` may be a patch, which has the members that it changes. */
export type FindMisspelt = (fields: unknown) => Fault[];

/** The test of the fields that the rules of a type name. */
export function misspeltFinder(schema: Schema, companion: Companion | null): FindMisspelt {
  const ruled = (companion?.columns ?? []).filter(({ field }) => !isOfEnvelope(field)).flatMap(({ field }) => spellingsAt(schema, field));
  return (fields) =>
    ruled.flatMap(({ field, isOfFormat, isTaken, example }) => {
      const text = memberAt(fields, field);
      if (typeof text !== 'string' || !isOfFormat(text) || isTaken(text)) return [];
      return [{ pointer: pointerTo(field), code: 'invalid-value' as const, values: { allowed: example } }];
    });
}

/** A text that is not of the format fits another alternative of the schema, or is refused by it. */
function spellingsAt(schema: Schema, field: Field): (Spelling & { field: Field; isOfFormat: (text: string) => boolean })[] {
  const formats = formatsOf(schema, field);
  const [format, ...others] = formats;
  if (format === undefined || others.length > 0 || !Object.hasOwn(spellings, format)) return [];
  const spelling = spellings[format];
  const fits = declaredFormats.get(format)?.fits as ((text: string) => boolean) | undefined;
  return spelling && fits ? [{ ...spelling, field, isOfFormat: fits }] : [];
}
