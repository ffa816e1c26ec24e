/** Ajv with the formats and words that the contract and declared entity types use. */
import ajvFormats from 'ajv-formats';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { isDecimal } from '../http/decimal.ts';
import { isInt64 } from '../http/int64.ts';

/** An Ajv that reads OpenAPI 3.1 schemas. It stops at the first error, unless `options` say otherwise. */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, validateFormats: true, ...options });
  // ajv-formats is a CommonJS module, but its types describe the default export as a namespace.
  (ajvFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary(['example', 'discriminator', 'xml', 'externalDocs']);
  ajv.addFormat('int64', { type: 'string', validate: isInt64 });
  ajv.addFormat('decimal', { type: 'string', validate: isDecimal });
  ajv.addFormat('password', true);
  return ajv;
}
