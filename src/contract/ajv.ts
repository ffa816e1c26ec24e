/** Ajv with the formats and words that the contract and declared entity types use. */
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { addFormats } from './formats.ts';

/** An Ajv that reads OpenAPI 3.1 schemas. It stops at the first error, unless `options` say otherwise. */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, validateFormats: true, ...options });
  addFormats(ajv);
  ajv.addVocabulary(['example', 'discriminator', 'xml', 'externalDocs']);
  return ajv;
}
