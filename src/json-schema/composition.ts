/** Keywords that apply other schemas to the same value. */
import { Evaluated } from './evaluated.ts';
import type { Keyword, KeywordPlace } from './keyword.ts';
import type { SchemaCheck, ValidationRun } from './run.ts';
import type { JsonSchema, SchemaError } from './types.ts';

interface AlternativesOutcome {
  fitting: number;
  errors: SchemaError[][];
}

/**
 * Tries the alternatives until `enough` of them fit. What the fitting ones evaluate is added to `seen`. If none fits, what any of them
 * evaluates is added, so that the errors do not call a member unknown that an alternative names.
 */
function tryAlternatives(
  checks: readonly SchemaCheck[],
  enough: number,
  value: unknown,
  run: ValidationRun,
  seen: Evaluated | undefined,
): AlternativesOutcome {
  const outcome: AlternativesOutcome = { fitting: 0, errors: [] };
  const refusedBy: Evaluated[] = [];
  const { held } = run;
  for (const check of checks) {
    const own = seen && new Evaluated();
    const errors = run.errorsOfAlternative(check, value, own);
    if (errors) {
      outcome.errors.push(errors);
      if (own) refusedBy.push(own);
      continue;
    }
    outcome.fitting += 1;
    if (own) seen?.add(own);
    if (outcome.fitting === enough) break;
  }
  if (outcome.fitting > 0) run.release(held);
  else for (const own of refusedBy) seen?.add(own);
  return outcome;
}

function anyOfCheck(schemas: unknown[], { schema, inner }: KeywordPlace): SchemaCheck {
  const checks = schemas.map((each, index) => inner(each, index));
  return (value, run, seen) => {
    // All alternatives that fit evaluate members and items.
    const { fitting, errors } = tryAlternatives(checks, seen ? Infinity : 1, value, run, seen);
    return fitting > 0 || run.refuse('anyOf', {}, schema, errors);
  };
}

function oneOfCheck(schemas: unknown[], { schema, inner }: KeywordPlace): SchemaCheck {
  const checks = schemas.map((each, index) => inner(each, index));
  return (value, run, seen) => {
    const { fitting, errors } = tryAlternatives(checks, 2, value, run, seen);
    return fitting === 1 || run.refuse('oneOf', {}, schema, fitting > 1 ? [] : errors);
  };
}

function allOfCheck(schemas: unknown[], { inner }: KeywordPlace): SchemaCheck {
  const checks = schemas.map((each, index) => inner(each, index));
  return (value, run, seen) => run.all(checks, (check) => check(value, run, seen));
}

function notCheck(not: unknown, { schema, inner }: KeywordPlace): SchemaCheck {
  const check = inner(not);
  return (value, run) => !run.verdictOf(check, value, undefined) || run.refuse('not', {}, schema);
}

/** Errors of `if` are no faults, and those of the branch are reported. */
function ifCheck(condition: unknown, { inner, sibling }: KeywordPlace): SchemaCheck {
  const [check, positive, negative] = [inner(condition), sibling('then'), sibling('else')];
  return (value, run, seen) => {
    const own = seen && new Evaluated();
    const holds = run.verdictOf(check, value, own);
    if (holds && own) seen?.add(own);
    const branch = holds ? positive : negative;
    return branch === undefined || branch(value, run, seen);
  };
}

function dependentSchemasCheck(dependents: JsonSchema, { inner }: KeywordPlace): SchemaCheck {
  const checks = Object.entries(dependents).map(([name, schema]) => ({ name, check: inner(schema, name) }));
  return (value, run, seen) => run.all(checks, ({ name, check }) => !Object.hasOwn(value as object, name) || check(value, run, seen));
}

const reference: Keyword = { kind: 'any', check: (target: string, { referred }: KeywordPlace) => referred(target) };

/** `then` and `else` are applied by `if`. Definitions are applied by references, and looked at to find their faults. */
const definitions: Keyword = {
  kind: 'any',
  check(schemas: JsonSchema, { inner }: KeywordPlace) {
    for (const [name, schema] of Object.entries(schemas)) inner(schema, name);
    return undefined;
  },
};
const branch: Keyword = {
  kind: 'any',
  check(schema: unknown, { inner }: KeywordPlace) {
    inner(schema);
    return undefined;
  },
};

export const compositionKeywords: readonly [string, Keyword][] = [
  ['$defs', definitions],
  ['definitions', definitions],
  ['$ref', reference],
  ['$dynamicRef', reference],
  ['not', { kind: 'any', check: notCheck }],
  ['anyOf', { kind: 'any', check: anyOfCheck }],
  ['oneOf', { kind: 'any', check: oneOfCheck }],
  ['allOf', { kind: 'any', check: allOfCheck }],
  ['if', { kind: 'any', check: ifCheck }],
  ['then', branch],
  ['else', branch],
  ['dependentSchemas', { kind: 'object', check: dependentSchemasCheck }],
];
