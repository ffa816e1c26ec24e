/** Examples of the contract as they travel. */
import { resolve, type ContractDocument, type Reference } from '../../src/contract/contract.ts';
import { codeBlock, escapeHtml } from './html.ts';

export type Examples = Record<string, { summary?: string; value: unknown } | Reference>;

const width = 84;

/** JSON with what fits a line on one line. */
export function compactJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, undefined, 1)?.replaceAll(/\n\s*/g, ' ').replaceAll('[ ', '[').replaceAll(' ]', ']') ?? '';
  if (typeof value !== 'object' || value === null || indent.length + line.length <= width) return line;
  const deeper = `${indent}  `;
  const parts = Object.entries(value).map(([name, member]) => {
    return `${deeper}${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}${compactJson(member, deeper)}`;
  });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

/** Each example under its summary; unfolded when `open`. */
export function showExamples(document: ContractDocument, type: string, examples: Examples = {}, open = false): string {
  return Object.values(examples)
    .map((example) => {
      const { summary = 'Example', value } = resolve(document, example as { summary?: string; value: unknown });
      const form = type === 'application/x-www-form-urlencoded';
      const text = form ? new URLSearchParams(value as Record<string, string>).toString() : compactJson(value);
      const block = codeBlock(text, form ? 'form' : 'json');
      return `<details class="example"${open ? ' open' : ''}><summary>Example: ${escapeHtml(summary)}</summary>\n${block}</details>\n`;
    })
    .join('');
}
