/** The validators of declared types: which patterns and formats their schemas may use. */
import { formats } from '../contract/formats.ts';
import type { TypeSource } from './store.ts';
import type { ValidatorOptions } from '../json-schema/types.ts';
import { linearPattern } from '../sandbox/linear-pattern.ts';
import { PatternMeter } from '../sandbox/pattern-meter.ts';

/** Patterns of callers take linear time, which `meter` bounds, and V8 never gets them (rule 70). Those of operators are JavaScript's. */
export function validatorOptions(source: TypeSource, meter = new PatternMeter()): ValidatorOptions {
  return { formats, compilePattern: source === 'api' ? (pattern) => linearPattern(pattern, meter) : operatorPattern };
}

function operatorPattern(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}
