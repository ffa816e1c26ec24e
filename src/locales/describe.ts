/**
 * Writes a problem in the caller's language: chooses the texts and fills in the values. Of HTTP it knows only the delay in `Retry-After`;
 * `http/problem.ts` makes the rest of the answer.
 */

import { problemValues } from '../problems/errors.ts';
import { expectedValues, faultValues } from '../problems/faults.ts';
import type { Problem } from '../problems/errors.ts';
import type { Expected, Fault, FaultCode, FaultPlace, ValueUnit } from '../problems/faults.ts';
import type { Catalogue } from './catalogue.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';
import type { Locale } from './negotiate.ts';

/** The texts of every locale. */
export const catalogues: Record<Locale, Catalogue> = { en, de, fr, es, ja };

const styles = {
  seconds: { style: 'unit', unit: 'second', unitDisplay: 'long' },
  bytes: { style: 'unit', unit: 'byte', unitDisplay: 'long' },
  number: { maximumFractionDigits: 20 },
} as const satisfies Record<Exclude<ValueUnit, 'text'>, Intl.NumberFormatOptions>;

/** One formatter for each locale and measure. They are cached because building one for each refusal would be expensive. */
const formats = new Map<string, Intl.NumberFormat>();

/** A fault in the caller's language. */
export type FaultDescription = FaultPlace & { code: FaultCode; detail: string; expected?: string };

export interface Description {
  title: string;
  detail: string;
  /** Absent when the problem has no faults. */
  errors?: FaultDescription[];
}

type TextValues = Readonly<Record<string, string | number>>;
type Measures = Readonly<Record<string, ValueUnit>>;

/**
 * The texts of a problem in a locale. Words around a missing value are left out. A missing `seconds` is read from the problem's own `Retry-After`,
 * so that header and text agree.
 */
export function translateProblem(locale: Locale, problem: Problem): Description {
  const { title, detail } = catalogues[locale].problems[problem.code];
  const retryAfter = Number(problem.headers['Retry-After']);
  const values = Number.isInteger(retryAfter) ? { seconds: retryAfter, ...problem.values } : problem.values;
  const description: Description = { title, detail: fill(locale, detail, measuresOf(problemValues, problem.code), values) };
  if (problem.faults.length > 0) description.errors = problem.faults.map((fault) => describeFault(locale, fault));
  return description;
}

/** One fault in the caller's language. */
export function describeFault(locale: Locale, fault: Fault): FaultDescription {
  const { code, values = {}, expected, ...place } = fault;
  const detail = fill(locale, catalogues[locale].faults[code], measuresOf(faultValues, code), values);
  return { ...place, code, detail, ...(expected && { expected: describeExpected(locale, expected) }) };
}

function describeExpected(locale: Locale, { kind, values }: Expected): string {
  const text = kind === 'value' ? '[{value}]' : catalogues[locale].expected[kind];
  return fill(locale, text, expectedValues[kind], values);
}

function measuresOf(table: Readonly<Record<string, Measures>>, code: string): Measures {
  return Object.hasOwn(table, code) ? (table[code] ?? {}) : {};
}

function fill(locale: Locale, text: string, measures: Measures, values: TextValues): string {
  return text.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => {
    const names = [...part.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    if (!names.every((name) => Object.hasOwn(measures, name) && Object.hasOwn(values, name))) return '';
    return part.replaceAll(/\{(\w+)\}/g, (_, name: string) => write(locale, values[name] ?? '', measures[name]));
  });
}

function write(locale: Locale, value: string | number, measure: ValueUnit = 'text'): string {
  if (typeof value === 'string' || measure === 'text') return String(value);
  const name = `${locale} ${measure}`;
  const format = formats.get(name) ?? new Intl.NumberFormat(locale, styles[measure]);
  formats.set(name, format);
  return format.format(value);
}
