/**
 * Validates a value and, when it is refused, finds all its errors, in bounded time. Ajv's option `allErrors` alone is not safe for input
 * from outside: it makes 1,000,000 errors of 10,000 wrong values, and it compares 10,000 items with each other although `maxItems` is 10.
 */
import { _, type Ajv2020, type CodeKeywordDefinition, type Options } from 'ajv/dist/2020.js';
import type { SchemaError } from '../http/expected.ts';
import { createAjv } from './ajv.ts';

/** Checks a value; `errors` has those of the latest value that it refused. */
export interface Validator {
  (value: unknown): boolean;
  errors?: SchemaError[] | null;
}

/**
 * Compiles a schema. The first validation stops at the first error, so accepted input costs little. Only refused input is
 * validated again by {@link createThoroughAjv}, which is compiled at the first refusal. Throws for an invalid schema.
 */
export function compileSchema(schema: object, ajv?: Ajv2020, code: CodeOptions = {}): Validator {
  const accepts = (ajv ?? createAjv({ code })).compile(schema);
  let findAll: Validator | undefined;
  const validate: Validator = (value) => {
    if (accepts(value)) return true;
    findAll ??= createThoroughAjv(code).compile(schema) as Validator;
    const { errors } = findAll(value) ? accepts : findAll;
    validate.errors = errors ?? [];
    return false;
  };
  return validate;
}

type CodeOptions = NonNullable<Options['code']>;

/** After so many errors no loop goes on. One value may have many: one for each alternative of `anyOf`. */
const maximumErrors = 1_000;

/** The keywords that may cost more than time in proportion to the value, and the limit beside them that bounds it. */
const bounds = { pattern: 'maxLength', format: 'maxLength', uniqueItems: 'maxItems' };

/** An Ajv that finds all errors. It stops soon after {@link maximumErrors}, and does not test texts and arrays that are too long already. */
function createThoroughAjv(code: CodeOptions): Ajv2020 {
  const ajv = createAjv({ allErrors: true, verbose: true, validateSchema: false, code: { ...code, process: stopLoops } });
  for (const [keyword, limit] of Object.entries(bounds)) {
    const rule = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      ...rule,
      code(context, ruleType) {
        const most: unknown = context.parentSchema[limit];
        if (typeof most !== 'number') return rule.code(context, ruleType);
        context.gen.if(_`${context.data}.length <= ${most}`, () => rule.code(context, ruleType));
      },
    });
  }
  return ajv;
}

/**
 * Ends the loops over items and members after {@link maximumErrors} errors, in the code that Ajv generates. Ajv has no option for that. The
 * verdict of this code is not used, so an alternative whose loop ends early does no harm.
 */
function stopLoops(code: string): string {
  return code.replaceAll(/\bfor\s*\((?:let|const|var) [^{}]*\)\s*\{/g, (head) => `${head}if(errors>=${maximumErrors})break;`);
}
