/** Ajv with the formats and words that the contract and declared entity types use. */
import { createRequire } from 'node:module';
import { _, Ajv2020, type CodeKeywordDefinition, type Options } from 'ajv/dist/2020.js';
import { addFormats } from './formats.ts';
import { isMultipleOf } from './multiple-of.ts';
import { isSameJson } from './same-json.ts';

// Node.js and Vitest disagree on what `import` of this file gives.
const { default: ajvEqual } = createRequire(import.meta.url)('ajv/dist/runtime/equal.js') as { default: unknown };

/** An Ajv that reads OpenAPI 3.1 schemas. It stops at the first error, unless `options` say otherwise. */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, validateFormats: true, ...options });
  addFormats(ajv);
  compareDecimals(ajv);
  // What validators find in the place of Ajv's function.
  ajv.scope.value('func', { key: ajvEqual, ref: isSameJson });
  ajv.addVocabulary(['x-expected', 'example', 'discriminator', 'xml', 'externalDocs']);
  return ajv;
}

/** Replaces the keyword `multipleOf`, which divides in floating point. */
function compareDecimals(ajv: Ajv2020): void {
  const rule = ajv.getKeyword('multipleOf') as CodeKeywordDefinition;
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    ...rule,
    code(context) {
      const fits = context.gen.scopeValue('func', { ref: isMultipleOf });
      context.fail(_`!${fits}(${context.data}, ${context.schemaCode})`);
    },
  });
}
