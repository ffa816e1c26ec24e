/**
 * Validates JSON values by JSON Schema 2020-12. A schema becomes functions, and no text of a schema becomes code. The caller says how
 * patterns are made and which formats exist (decision 205).
 */
import { Compiler } from './compiler.ts';
import { ValidationRun, ErrorSearchTimeout, type Detail } from './run.ts';
import type { SchemaError, SchemaFault, ValidatorOptions } from './types.ts';

export interface Validator {
  /** Whether the value fits. It ends at the first fault. */
  accepts: (value: unknown) => boolean;
  /**
   * The errors of a value; none if it fits. The work is bounded, since a value may have one error for each of its members and
   * alternatives: after about 1,000 errors no loop goes on, and where finding them takes too long the first error is the only one.
   */
  errorsOf: (value: unknown) => SchemaError[];
  /** The first error of a value; undefined if it fits. It takes as long as the verdict. */
  firstErrorOf: (value: unknown) => SchemaError | undefined;
  /** The errors of a value whose first error is already there. */
  furtherErrorsOf: (value: unknown, first: SchemaError) => SchemaError[];
}

/** The parts of a schema of which no check can be made; such a schema is refused. Its other values must be those of the meta-schema. */
export class InvalidSchema extends Error {
  override readonly name = 'InvalidSchema';
  readonly faults: readonly SchemaFault[];

  constructor(faults: readonly SchemaFault[]) {
    super(`no validator of: ${faults.map(({ path }) => path.join('/')).join(', ')}`);
    this.faults = faults;
  }
}

/** The validator of a schema, an object or a boolean, which the meta-schema has accepted. Throws {@link InvalidSchema}. */
export function compileSchema(schema: unknown, options: ValidatorOptions): Validator {
  const compiler = new Compiler(schema, options);
  const check = compiler.compileRoot(schema);
  if (compiler.faults.length > 0) throw new InvalidSchema(compiler.faults);
  const run = (value: unknown, detail: Detail) => {
    const validation = new ValidationRun(detail);
    return { fits: check(value, validation, undefined), validation };
  };
  const firstErrorOf = (value: unknown) => run(value, 'first').validation.errors[0];
  const furtherErrorsOf = (value: unknown, first: SchemaError) => {
    try {
      return run(value, 'all').validation.errors;
    } catch (error) {
      if (!(error instanceof ErrorSearchTimeout)) throw error;
      return [first];
    }
  };
  return {
    accepts: (value) => run(value, 'verdict').fits,
    errorsOf(value) {
      const first = firstErrorOf(value);
      return first ? furtherErrorsOf(value, first) : [];
    },
    firstErrorOf,
    furtherErrorsOf,
  };
}
