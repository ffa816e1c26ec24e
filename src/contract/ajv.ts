/** Ajv with the formats and words that the contract and declared entity types use. */
import { createRequire } from 'node:module';
import { _, Ajv2020, type CodeKeywordDefinition, type Options } from 'ajv/dist/2020.js';
import { addFormats } from './formats.ts';
import { isMultipleOf } from './multiple-of.ts';
import { areDifferent, isSameJson } from './same-json.ts';

// Node.js and Vitest disagree on what `import` of this file gives.
const { default: ajvEqual } = createRequire(import.meta.url)('ajv/dist/runtime/equal.js') as { default: unknown };

/**
 * An Ajv that reads OpenAPI 3.1 schemas. It stops at the first error, unless `options` say otherwise. It compares no names of `properties` with
 * `patternProperties`: Ajv would do so with V8's RegExp while it compiles, which may take exponential time (rule 70).
 */
export function createAjv(options: Options = {}): Ajv2020 {
  const strictness = { strict: true, strictRequired: false, strictTypes: false, allowMatchingProperties: true };
  const ajv = new Ajv2020({ ...strictness, validateFormats: true, ...options });
  addFormats(ajv);
  // Ajv divides in floating point.
  replaceKeyword(ajv, 'multipleOf', () => codeOf(isMultipleOf));
  // Ajv compares each item with every other one.
  const areUnique = codeOf((items: unknown[], areWanted: boolean) => !areWanted || areDifferent(items));
  replaceKeyword(ajv, 'uniqueItems', () => ({ ...areUnique, error: { message: 'must not have equal items' } }));
  // Validators of `const` and `enum` find it in the place of Ajv's function.
  ajv.scope.value('func', { key: ajvEqual, ref: isSameJson });
  ajv.addVocabulary(['x-expected', 'example', 'discriminator', 'xml', 'externalDocs']);
  return ajv;
}

/** Replaces the members of a keyword's definition that `replacement` gives. */
export function replaceKeyword(
  ajv: Ajv2020,
  keyword: string,
  replacement: (rule: CodeKeywordDefinition) => Partial<CodeKeywordDefinition>,
): void {
  const rule = ajv.getKeyword(keyword) as CodeKeywordDefinition;
  ajv.removeKeyword(keyword);
  ajv.addKeyword({ ...rule, ...replacement(rule) });
}

/** The code of a keyword whose test is `fits`, which gets the value and that of the keyword. */
function codeOf(fits: (value: never, schema: never) => boolean): Pick<CodeKeywordDefinition, 'code'> {
  return {
    code(context) {
      const test = context.gen.scopeValue('func', { ref: fits });
      context.fail(_`!${test}(${context.data}, ${context.schemaCode})`);
    },
  };
}
