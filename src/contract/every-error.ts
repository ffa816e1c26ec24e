/**
 * Validates a value and, when it is refused, finds all its errors, in bounded time. Ajv's option `allErrors` alone is not safe for input
 * from outside: it makes 1,000,000 errors of 10,000 wrong values, and it compares 10,000 items with each other although `maxItems` is 10.
 */
import { _, Name, type Ajv2020, type CodeKeywordDefinition, type KeywordCxt, type Options } from 'ajv/dist/2020.js';
import type { SchemaError } from '../http/expected.ts';
import { createAjv, replaceKeyword } from './ajv.ts';

/** Checks a value; `errors` has those of the latest value that it refused. */
export interface Validator {
  (this: unknown, value: unknown): boolean;
  errors?: SchemaError[] | null;
}

/**
 * Compiles a schema. The first validation, of {@link createQuickAjv}, stops at the first error, so accepted input costs little. Only refused
 * input is validated again by {@link createThoroughAjv}, which is compiled at the first refusal. If that is too much work, the first error
 * stays the only one. `options` are Ajv's for both. Throws for an invalid schema.
 */
export function compileSchema(schema: object, ajv?: Ajv2020, options: Options = {}): Validator {
  const accepts = (ajv ?? createQuickAjv(options)).compile(schema);
  let findAll: Validator | undefined;
  const validate: Validator = (value) => {
    if (accepts(value)) return true;
    findAll ??= createThoroughAjv(options).compile(schema) as Validator;
    validate.errors = allErrors(findAll, value) ?? firstError(accepts.errors ?? []);
    return false;
  };
  return validate;
}

/** After so many errors no loop goes on. One value may have many: one for each alternative of `anyOf`. */
const maximumErrors = 1_000;
/** After so many errors the validation ends, with those of an alternative while another fits. Loops end earlier; recursion ends so. */
const maximumErrorsMade = 5_000;

/** All errors that `findAll` makes; undefined if they are more than {@link maximumErrorsMade}. */
function allErrors(findAll: Validator, value: unknown): SchemaError[] | undefined {
  const work = { errorsMade: 0 };
  try {
    return findAll.call(work, value) ? undefined : (findAll.errors ?? []);
  } catch (error) {
    if (error === work) return undefined;
    throw error;
  }
}

/**
 * The error at which a validation without `allErrors` stopped: the last, as Ajv reports those of alternatives before it. The error of `if` only
 * follows.
 */
export function firstError(errors: readonly SchemaError[]): SchemaError[] {
  return errors.filter(({ keyword }) => keyword !== 'if').slice(-1);
}

/** The keywords whose subschemas may refuse a value that they accept. */
const alternatives = ['anyOf', 'oneOf', 'contains'];

/**
 * An Ajv that stops at the first error. It makes no errors inside of `anyOf`, `oneOf` and `contains`: Ajv would make one for each alternative
 * and each item, also of accepted input, and hold those of all items of `contains` at once.
 */
export function createQuickAjv(options: Options = {}): Ajv2020 {
  const ajv = createAjv({ ...options, messages: false });
  for (const keyword of alternatives)
    wrapSubschemas(ajv, keyword, (context, compile) => (application, valid) => {
      const compiled = compile({ ...application, createErrors: false }, valid);
      context.reset();
      return compiled;
    });
  return ajv;
}

type Compile = KeywordCxt['subschema'];

/** Replaces the function with which the keyword compiles each of its subschemas by the one that `wrap` makes of it. */
function wrapSubschemas(
  ajv: Ajv2020,
  keyword: string,
  wrap: (context: KeywordCxt, compile: Compile) => Compile,
  others: Partial<CodeKeywordDefinition> = {},
): void {
  replaceKeyword(ajv, keyword, (rule) => ({
    ...others,
    code(context, ruleType) {
      context.subschema = wrap(context, context.subschema.bind(context));
      rule.code(context, ruleType);
    },
  }));
}

/** The keywords that may cost more than time in proportion to the value, and the limit beside them that bounds it. */
const bounds = { pattern: 'maxLength', format: 'maxLength', uniqueItems: 'maxItems' };

/** An Ajv that finds all errors. It stops soon after {@link maximumErrors}, and does not test texts and arrays that are too long already. */
function createThoroughAjv(options: Options): Ajv2020 {
  const code = { ...options.code, process: limitErrors };
  const ajv = createAjv({ ...options, allErrors: true, verbose: true, validateSchema: false, passContext: true, code });
  for (const keyword of alternatives) countErrorsInside(ajv, keyword);
  for (const [keyword, limit] of Object.entries(bounds)) {
    replaceKeyword(ajv, keyword, (rule) => ({
      code(context, ruleType) {
        const most: unknown = context.parentSchema[limit];
        if (typeof most !== 'number') return rule.code(context, ruleType);
        context.gen.if(_`${context.data}.length <= ${most}`, () => rule.code(context, ruleType));
      },
    }));
  }
  return ajv;
}

/**
 * Lets the errors of a keyword have the parameter `inside`: for each of its subschemas the number of errors, which Ajv reports immediately
 * before. Their paths cannot tell it: a subschema that is a reference has the path of its target.
 */
function countErrorsInside(ajv: Ajv2020, keyword: string): void {
  const errors = new Name('errors');
  const counts = new WeakMap<KeywordCxt, Name>();
  const count = (context: KeywordCxt, compile: Compile): Compile => {
    const { gen } = context;
    const inside = gen.const('inside', _`[]`);
    counts.set(context, inside);
    return (application, valid) => {
      const before = gen.const('before', errors);
      const compiled = compile(application, valid);
      gen.code(_`${inside}.push(${errors} - ${before})`);
      return compiled;
    };
  };
  const { error } = ajv.getKeyword(keyword) as CodeKeywordDefinition;
  const params = (context: object) => _`{inside: ${counts.get(context as KeywordCxt)}}`;
  wrapSubschemas(ajv, keyword, count, { error: { ...error, message: '', params } });
}

/**
 * Ends the loops over items and members after {@link maximumErrors} errors, and throws the context of the validation after
 * {@link maximumErrorsMade}, in the code that Ajv generates. Ajv has no option for that. The verdict of this code is not used, so an
 * alternative whose loop ends early does no harm.
 */
function limitErrors(code: string): string {
  return code
    .replaceAll(/\bfor\s*\((?:let|const|var) [^{}]*\)\s*\{/g, (head) => `${head}if(errors>=${maximumErrors})break;`)
    .replaceAll(/\berrors\+\+;/g, (made) => `${made}if(++this.errorsMade>${maximumErrorsMade})throw this;`);
}
