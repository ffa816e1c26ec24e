import { describe as group, expect, it } from 'vitest';
import { Problem } from '../../src/problems/errors.ts';
import type { Expected } from '../../src/problems/faults.ts';
import type { ProblemCode } from '../../src/problems/errors.ts';
import { problemFacts } from '../../src/problems/errors.ts';
import { translateProblem } from '../../src/locales/describe.ts';
import { locales } from '../../src/locales/negotiate.ts';

const codes = Object.keys(problemFacts) as ProblemCode[];

group.each(locales)('describe in %s', (locale) => {
  it.each(codes)('%s reads well without values, and its title does not vary', (code) => {
    const bare = translateProblem(locale, new Problem(code));
    expect(bare.title).not.toBe('');
    expect(`${bare.title} ${bare.detail}`).not.toMatch(/[[\]{}]|undefined| {2}| \.|\( *\)|（ *）/);
    expect(bare).not.toHaveProperty('errors');
  });

  it.each([
    new Problem('rate-limited', { values: { seconds: 12 } }),
    new Problem('busy', { values: { seconds: 12 } }),
    new Problem('unavailable', { values: { seconds: 12 } }),
    new Problem('issuer-unavailable', { values: { seconds: 12 } }),
    new Problem('outcome-unknown', { values: { seconds: 12 } }),
    new Problem('content-too-large', { values: { limit: 12 } }),
    new Problem('uri-too-long', { values: { limit: 12 } }),
    new Problem('headers-too-large', { values: { limit: 12 } }),
    new Problem('method-not-allowed', { values: { allowed: '12' } }),
    new Problem('not-acceptable', { values: { allowed: '12' } }),
    new Problem('unsupported-media-type', { values: { allowed: '12' } }),
  ])('$code includes its value and does not change its title', (problem) => {
    const { title, detail } = translateProblem(locale, problem);
    expect(detail).toContain('12');
    expect(detail).not.toMatch(/[[\]{}]/);
    expect(translateProblem(locale, new Problem(problem.code)).detail).not.toContain('12');
    expect(title).toBe(translateProblem(locale, new Problem(problem.code)).title);
  });
});

it.each([
  ['en', 1, 'Please try again in 1 second.'],
  ['en', 5, 'Please try again in 5 seconds.'],
  ['de', 1, 'Bitte versuchen Sie es in 1 Sekunde erneut.'],
  ['de', 5, 'Bitte versuchen Sie es in 5 Sekunden erneut.'],
  ['fr', 1, 'Veuillez réessayer dans 1 seconde.'],
  ['fr', 5, 'Veuillez réessayer dans 5 secondes.'],
  ['es', 1, 'Inténtelo de nuevo dentro de 1 segundo.'],
  ['es', 5, 'Inténtelo de nuevo dentro de 5 segundos.'],
  ['ja', 1, '1 秒後にもう一度お試しください。'],
] as const)('in %s a wait of %i has the right singular or plural', (locale, seconds, text) => {
  const { detail } = translateProblem(locale, new Problem('busy', { values: { seconds } }));
  expect(detail.replaceAll('\u00a0', ' ')).toContain(text);
});

it('the detail has the seconds of Retry-After, unless the problem has a value of its own', () => {
  const headers = { 'Retry-After': '7' };
  expect(translateProblem('en', new Problem('busy', { headers })).detail).toContain('in 7 seconds.');
  expect(translateProblem('en', new Problem('busy', { headers, values: { seconds: 9 } })).detail).toContain('in 9 seconds.');
  expect(translateProblem('en', new Problem('busy', { headers: { 'Retry-After': 'Fri, 31 Dec 1999 23:59:59 GMT' } })).detail).toContain(
    'try again.',
  );
  expect(translateProblem('en', new Problem('not-found', { headers })).detail).not.toContain('7');
});

it('what is expected is a phrase in the language, with the values of the fault', () => {
  const expectedIn = (locale: (typeof locales)[number], expected: Expected) =>
    translateProblem(locale, new Problem('validation-failed', { faults: [{ pointer: '/a', code: 'invalid-value', expected }] })).errors?.[0]
      ?.expected;
  const date: Expected = { kind: 'format', values: { format: 'date', example: '2026-11-22' } };
  expect(locales.map((locale) => expectedIn(locale, date))).toEqual([
    'date, as 2026-11-22',
    'date, zum Beispiel 2026-11-22',
    'date, par exemple 2026-11-22',
    'date, por ejemplo 2026-11-22',
    'date（例えば 2026-11-22）',
  ]);
  const integer: Expected = { kind: 'integer', values: { minimum: '1', maximum: '1000' } };
  expect(locales.map((locale) => expectedIn(locale, integer))).toEqual([
    'an integer from 1 to 1000',
    'eine ganze Zahl, mindestens 1 und höchstens 1000',
    'un nombre entier, au moins 1 et au plus 1000',
    'un número entero, como mínimo 1 y como máximo 1000',
    '1 以上 1000 以下の整数',
  ]);
  const name: Expected = { kind: 'characters', values: { count: '1–64', characters: 'A–Z 0–9', first: 'A–Z', example: 'Ada', other: '*' } };
  expect(locales.map((locale) => expectedIn(locale, name))).toEqual([
    '1–64 of these characters: A–Z 0–9, the first of A–Z, as Ada, or *',
    '1–64 dieser Zeichen: A–Z 0–9, das erste aus A–Z, zum Beispiel Ada, oder *',
    '1–64 de ces caractères\u00a0: A–Z 0–9, le premier parmi A–Z, par exemple Ada, ou *',
    '1–64 de estos caracteres: A–Z 0–9, el primero de A–Z, por ejemplo Ada, o *',
    '次の文字を 1–64 文字：A–Z 0–9（先頭は A–Z）（例えば Ada）、または *',
  ]);
  expect(expectedIn('en', { kind: 'format', values: { format: 'postcode' } })).toBe('postcode');
  expect(expectedIn('de', { kind: 'multiple-of', values: { limit: 0.0001 } })).toBe('ein Vielfaches von 0,0001');
  expect(expectedIn('fr', { kind: 'value', values: { value: 'string' } })).toBe('string');
});

it('a large limit has the thousands separators of the language', () => {
  const problem = new Problem('content-too-large', { values: { limit: 1048576 } });
  expect(translateProblem('en', problem).detail).toContain('1,048,576 bytes');
  expect(translateProblem('de', problem).detail).toContain('1.048.576 Byte');
});

it('each fault has its place and its text, in order, with its own values', () => {
  const problem = new Problem('validation-failed', {
    faults: [
      { pointer: '/name', code: 'too-long', values: { maximum: 64 } },
      { pointer: '', code: 'invalid-type', values: { allowed: 'object' } },
      { parameter: 'roles', code: 'invalid-value', values: { allowed: '1' } },
      { pointer: '/size', code: 'invalid-value', values: { minimum: 1, maximum: 9 } },
      { pointer: '/age', code: 'required' },
    ],
  });
  expect(translateProblem('en', problem).errors).toEqual([
    { pointer: '/name', code: 'too-long', detail: 'This is too long. Maximum length: 64.' },
    { pointer: '', code: 'invalid-type', detail: 'This value is of the wrong type. Expected: object.' },
    { parameter: 'roles', code: 'invalid-value', detail: 'This value is not accepted. Accepted: 1.' },
    { pointer: '/size', code: 'invalid-value', detail: 'This value is not accepted. Minimum: 1. Maximum: 9.' },
    { pointer: '/age', code: 'required', detail: 'This is required.' },
  ]);
  expect(translateProblem('de', problem).errors?.[4]).toEqual({
    pointer: '/age',
    code: 'required',
    detail: 'Diese Angabe ist erforderlich.',
  });
});

it('a value is never interpreted as a pattern or a placeholder', () => {
  const allowed = "$& $1 {limit} [x] $'";
  const { detail } = translateProblem('en', new Problem('method-not-allowed', { values: { allowed } }));
  expect(detail).toContain(allowed);
});

it('nothing of the cause is sent to the caller', () => {
  const problem = new Problem('internal-error', { cause: new Error('select secret from user_account') });
  expect(JSON.stringify(translateProblem('en', problem))).not.toContain('secret');
});
