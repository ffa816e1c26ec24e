/** The validators of declared types: which patterns and formats their schemas may use. */
import { formats } from '../contract/formats.ts';
import type { TypeSource } from '../database/tables.ts';
import type { ValidatorOptions } from '../json-schema/types.ts';
import { linearPattern } from './linear-pattern.ts';

/** Patterns of callers take linear time, and V8 never gets them (rule 70). Those of operators are JavaScript's. */
export function validatorOptions(source: TypeSource): ValidatorOptions {
  return { formats, compilePattern: source === 'api' ? linearPattern : operatorPattern };
}

function operatorPattern(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}
