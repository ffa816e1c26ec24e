/** Converts the errors of a validation into the faults of a problem. */
import { Problem } from './errors.ts';
import { maximumFaults, type Expected, type Fault, type FaultPlace } from './faults.ts';
import type { SchemaError } from '../json-schema/types.ts';
import { expectedBy, expectedByOneOf, listValues } from './expected.ts';
import { pathOf, placeOf, pointerTo, positionsIn } from './pointer.ts';

/**
 * The problem for the errors in `context` (`params`, `querystring`, `headers`, `form` or `body`): 400 for parameters and forms, 422 for
 * JSON, which is well-formed by then. `sent` is the value as the caller sent it, for the positions of names that must not be repeated.
 */
export function faultsOf(found: readonly SchemaError[], context: string, sent: unknown): Problem {
  const faults = new Map<string, Fault>();
  const positionOf = positionsIn(sent);
  for (const { error, alternatives } of withoutConsequences(found)) {
    if (faults.size === maximumFaults) break;
    const fault = faultOf(error, placeOfError(error, context, positionOf), alternatives, context === 'body');
    faults.set(JSON.stringify(fault), fault);
  }
  const all = [...faults.values()];
  const [first] = all;
  if (context === 'params' && first?.parameter === 'key') return new Problem('invalid-key', { faults: all });
  return new Problem(context === 'body' ? 'validation-failed' : 'malformed-request', { faults: all });
}

interface Finding {
  error: SchemaError;
  /** For `anyOf` and `oneOf`, if each alternative refuses the kind of the value: the error that says so, for each. */
  alternatives: readonly SchemaError[];
}

/**
 * The errors without those that only follow from others. A value of the wrong format retains no error of `pattern`, and a value of the wrong type no
 * other error.
 */
function withoutConsequences(found: readonly SchemaError[]): Finding[] {
  const all = found.flatMap(findingsOf);
  const placesOf = (keyword: string) =>
    new Set(all.filter(({ error }) => error.keyword === keyword).map(({ error }) => error.instancePath));
  const [mistyped, misformatted] = [placesOf('type'), placesOf('format')];
  return all.filter(({ error: { keyword, instancePath } }) => {
    if (keyword === 'pattern' && misformatted.has(instancePath)) return false;
    return keyword === 'type' || !mistyped.has(instancePath);
  });
}

/** What the error of a keyword says, with the errors in each of its subschemas: those of an alternative if the value fits its kind alone. */
function findingsOf(error: SchemaError): Finding[] {
  const outcomes = (error.alternatives ?? []).map(withoutConsequences);
  const refusals = outcomes.map((outcome) => outcome.find((finding) => refusesKind(finding, error.instancePath)));
  const fitting = outcomes.filter((_outcome, index) => refusals[index] === undefined);
  const [only] = fitting;
  if (fitting.length === 1 && only && only.length > 0) return only;
  return [{ error, alternatives: fitting.length > 0 ? [] : refusals.flatMap((refusal) => (refusal ? kindsOf(refusal) : [])) }];
}

/** The errors that refuse the kind of the value; several if alternatives stand inside an alternative. */
function kindsOf({ error, alternatives }: Finding): readonly SchemaError[] {
  return alternatives.length > 0 ? alternatives : [error];
}

/** Whether the value at the place has the wrong type, or none of the values that are accepted there. */
function refusesKind({ error: { keyword, instancePath }, alternatives }: Finding, place: string): boolean {
  return instancePath === place && (alternatives.length > 0 || ['type', 'const', 'enum'].includes(keyword));
}

type PositionOf = ReturnType<typeof positionsIn>;

function placeOfError({ keyword, instancePath, params }: SchemaError, context: string, positionOf: PositionOf): FaultPlace {
  const path = pathOf(instancePath);
  const member = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName'];
  // The name of a missing member comes from the schema, all others from the caller.
  const isMissing = keyword === 'required' || keyword === 'dependentRequired';
  const names = typeof member === 'string' && !isMissing ? [...path, member] : path;
  const place = placeOf(names, (depth) => positionOf(names.slice(0, depth + 1)));
  const missing = isMissing && place.position === undefined ? pointerTo([String(member)]) : '';
  if (context === 'body' || context === 'form') return { ...place, pointer: place.pointer + missing };
  return { ...(place.position !== undefined && { position: place.position }), parameter: `${place.pointer}${missing}`.slice(1) };
}

function faultOf(error: SchemaError, place: FaultPlace, alternatives: readonly SchemaError[], isJson: boolean): Fault {
  const { keyword, params } = error;
  const limit = Number(params['limit']);
  const expected =
    alternatives.length > 0
      ? expectedByOneOf(alternatives.map((alternative) => expectedBy(alternative, isJson)))
      : expectedBy(error, isJson);
  const where = { ...place, ...(expected && { expected }) };
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return { ...where, code: 'required' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return { ...where, code: 'unknown' };
    case 'type':
      return { ...where, code: 'invalid-type', values: { allowed: String(params['type']) } };
    case 'anyOf':
    case 'oneOf':
      return ofAlternatives(where, alternatives, expected);
    case 'enum':
      return { ...where, code: 'invalid-value', values: { allowed: listValues(params['allowedValues'] as unknown[]) } };
    case 'const':
      return { ...where, code: 'invalid-value', values: { allowed: listValues([params['allowedValue']]) } };
    case 'minimum':
      return { ...where, code: 'invalid-value', values: { minimum: limit } };
    case 'maximum':
      return { ...where, code: 'invalid-value', values: { maximum: limit } };
    case 'minLength':
      return { ...where, code: 'too-short', values: { minimum: limit } };
    case 'maxLength':
      return { ...where, code: 'too-long', values: { maximum: limit } };
    default:
      return { ...where, code: 'invalid-value' };
  }
}

/** A value that fits no alternative has the wrong type if all of them refuse its type. */
function ofAlternatives(where: FaultPlace, alternatives: readonly SchemaError[], expected: Expected | undefined): Fault {
  if (alternatives.length === 0 || alternatives.some(({ keyword }) => keyword !== 'type')) return { ...where, code: 'invalid-value' };
  const allowed = expected?.kind === 'one-of' ? expected.values.values : undefined;
  return { ...where, code: 'invalid-type', values: { ...(allowed !== undefined && { allowed }) } };
}
