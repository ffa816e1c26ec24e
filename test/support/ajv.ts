/** Ajv as a judge that is independent of the service's own validator. It knows the formats of the contract. */
import { createRequire } from 'node:module';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { formatNames, formats } from '../../src/contract/formats.ts';

// ajv-formats is a CommonJS module, but its types describe the default export as a namespace.
const addFormats = createRequire(import.meta.url)('ajv-formats') as (ajv: Ajv2020) => void;

/** An Ajv in strict mode that reads OpenAPI 3.1 schemas. */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, validateFormats: true, ...options });
  addFormats(ajv);
  for (const name of formatNames) {
    const own = formats.get(name);
    if (own?.kind === 'string' && ['int64', 'decimal', 'date-time'].includes(name))
      ajv.addFormat(name, { type: 'string', validate: (text) => own.fits(text as never) });
  }
  ajv.addVocabulary(['x-expected', 'example', 'discriminator', 'xml', 'externalDocs']);
  return ajv;
}
