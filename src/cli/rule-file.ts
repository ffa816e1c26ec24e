/** Reads a file with the rule of a grant: JSON or YAML. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { faultText } from '../entity-types/files.ts';
import { describeFault } from '../locales/describe.ts';
import type { Fault } from '../problems/faults.ts';
import type { Problem } from '../problems/errors.ts';
import { readDocumentText } from '../rights/document-text.ts';
import type { Desk } from './command.ts';
import { printableText, Refusal } from './output.ts';

/** The value of the file, or of standard input for `-`. Throws {@link Refusal} for a file that cannot be read, or is neither JSON nor YAML. */
export async function readRuleFile({ input }: Pick<Desk, 'input'>, name: string): Promise<unknown> {
  try {
    const bytes = name === '-' ? await buffer(input) : await readFile(name);
    const read = readDocumentText(bytes, name);
    if ('code' in read) throw new Error(faultText(read));
    return read.value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal(printableText(`${name} cannot be read: ${reason.replaceAll(/\s*\n\s*/g, ' ').trim()}`));
  }
}

function ruleFaultText(fault: Fault): string {
  const { detail, expected } = describeFault('en', fault);
  return expected === undefined ? detail : `${detail} Expected: ${expected}.`;
}

/** The refusal of a rule, with a sentence for each of its faults; a problem of another kind as it is. */
export function ruleRefusal(problem: Problem): Error {
  const isOfDocument = problem.code === 'validation-failed' && problem.faults.every(({ values }) => !values || !('rules' in values));
  if (!isOfDocument) return problem;
  const faults = problem.faults.map((fault) => printableText(`${fault.pointer || 'the rule'}: ${ruleFaultText(fault)}`));
  return new Refusal(`the rule cannot be granted on ${problem.audit.entity}: ${faults.join('; ')}`);
}
