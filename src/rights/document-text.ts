/** Reads the text of a document of rights: JSON or YAML. */
import { parse } from 'yaml';
import { readJson } from '../json/json.ts';
import type { Fault } from '../problems/faults.ts';

/** The value of the file called `name`, or a fault. Throws an error for a text that is no YAML, or has a number that JSON would change. */
export function readDocumentText(bytes: Buffer, name: string): { value: unknown } | Fault {
  const text = bytes.toString('utf8');
  const isJson = name.endsWith('.json') || /^\s*[[{]/.test(text);
  return readJson(isJson ? bytes : Buffer.from(jsonOf(text)));
}

/** The JSON of a YAML document. Throws an error for a number that JSON would change. */
function jsonOf(yaml: string): string {
  return JSON.stringify(parse(yaml, { intAsBigInt: true }) ?? null, (_name, value: unknown) => {
    if (typeof value !== 'bigint') return value;
    if (!Number.isSafeInteger(Number(value))) throw new Error(`the number ${value} has too many digits: write it as a text`);
    return Number(value);
  });
}
