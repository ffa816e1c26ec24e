/**
 * The official test suite of JSON Schema 2020-12 (https://github.com/json-schema-org/JSON-Schema-Test-Suite, `tests/draft2020-12`). It runs if
 * JSON_SCHEMA_SUITE names that folder. The cases of `keywords.test.ts` are always run.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { faultsOfDialect } from '../../src/entity-types/keywords.ts';
import { faultsOfDocument, schemaOf } from '../../src/entity-types/document.ts';
import { validatorOptions } from '../../src/entity-types/validator.ts';
import { metaSchema } from '../../src/json-schema/meta-schema.ts';
import { compileSchema, InvalidSchema, type Validator } from '../../src/json-schema/validator.ts';

interface Group {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

const folder = process.env['JSON_SCHEMA_SUITE'];

/** The groups of the files in a folder of the suite, by the name of the file. */
function groupsOf(path: string): [string, Group[]][] {
  const files = readdirSync(path).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => [file.slice(0, -5), JSON.parse(readFileSync(join(path, file), 'utf8')) as Group[]]);
}

interface Outcome {
  right: number;
  wrong: string[];
  refused: Map<string, number>;
}

/** What is found for all values; `prepare` returns the validator of a schema, or why it is refused. */
function outcomeOf(files: [string, Group[]][], prepare: (schema: unknown) => ((value: unknown) => boolean) | string): Outcome {
  const outcome: Outcome = { right: 0, wrong: [], refused: new Map() };
  for (const [file, groups] of files)
    for (const { description, schema, tests } of groups) {
      const accepts = prepare(schema);
      if (typeof accepts === 'string') outcome.refused.set(accepts, (outcome.refused.get(accepts) ?? 0) + 1);
      else
        for (const { description: title, data, valid } of tests)
          if (accepts(data) === valid) outcome.right++;
          else outcome.wrong.push(`${file}: ${description}: ${title}`);
    }
  return outcome;
}

const options = validatorOptions('files');
const form = compileSchema(metaSchema, options);

function validatorOf(schema: unknown): Validator['accepts'] | string {
  const isKnown = typeof schema !== 'object' || faultsOfDialect((schema as { $schema?: unknown }).$schema).length === 0;
  if (!isKnown) return '$schema';
  try {
    return form.accepts(schema) ? compileSchema(schema, options).accepts : 'meta-schema';
  } catch (error) {
    if (!(error instanceof InvalidSchema)) throw error;
    return String(error.faults[0]?.path.at(-1));
  }
}

/** The schema as that of a field: its references lead into the field. */
function fieldOf(schema: unknown, source: 'api' | 'files'): ((value: unknown) => boolean) | string {
  const { $schema, ...own } = typeof schema === 'object' ? (schema as Record<string, unknown>) : {};
  const field = typeof schema === 'boolean' ? schema : own;
  const document = { ...($schema !== undefined && { $schema }), properties: { field: moved(field) } };
  const fault = faultsOfDocument(document, source)[0];
  if (fault) return fault.pointer?.split('/').at(-1) ?? '';
  const { accepts } = compileSchema(schemaOf(document), validatorOptions(source));
  return (value) => accepts({ field: value });
}

/** The value with each reference to the root, or from there, led to the field. */
function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'enum' || name === 'const'
        ? inner
        : name === '$ref' && typeof inner === 'string' && /^#(\/|$)/.test(inner)
          ? `#/properties/field${inner.slice(1)}`
          : moved(inner),
    ]),
  );
}

/** Formats are checked, and the suite calls them annotations. */
const assertsFormats = /^format: .* is only an annotation by default$/;
/** A second has at most nine digits. */
const longFraction = 'date-time: validation of date-time strings: a second fraction of fifteen nines is valid';

describe.skipIf(folder === undefined)('the official suite of JSON Schema 2020-12', () => {
  const keywords = () => groupsOf(folder ?? '');
  const formats = () => groupsOf(join(folder ?? '', 'optional', 'format'));

  test.each([
    ['the validator', validatorOf, { values: 1_170, refused: { $ref: 22, $dynamicRef: 14, $schema: 2, 'meta-schema': 1, format: 4 } }],
    [
      'a field of a type of files',
      (schema: unknown) => fieldOf(schema, 'files'),
      { values: 1_109, refused: { $ref: 59, default: 3, $dynamicRef: 3, enum: 1, format: 4, $schema: 2 } },
    ],
    [
      'a field of a type of a request',
      (schema: unknown) => fieldOf(schema, 'api'),
      {
        values: 1_036,
        refused: {
          $id: 47,
          $ref: 20,
          default: 3,
          $dynamicRef: 1,
          enum: 1,
          format: 4,
          $schema: 1,
          pattern: 1,
          patternProperties: 1,
          properties: 1,
          uniqueItems: 3,
          field: 2,
        },
      },
    ],
  ] as const)('%s is right for each value, or its schema is refused', (_title, prepare, { values, refused }) => {
    const { right, wrong, refused: found } = outcomeOf(keywords(), prepare);
    expect(wrong.filter((each) => !assertsFormats.test(each))).toEqual([]);
    expect(wrong).toHaveLength(15);
    expect([right, Object.fromEntries(found)]).toEqual([values, refused]);
    const ofFormats = outcomeOf(formats(), prepare);
    expect(ofFormats.wrong).toEqual([longFraction]);
    expect([ofFormats.right, Object.fromEntries(ofFormats.refused)]).toEqual([611, { format: 6 }]);
  });
});
