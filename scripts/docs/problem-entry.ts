/** The catalogue of problems: a section for each code, made of its row in docs/errors.md, the service's own texts and the contract. */
import { operationsOf, type ContractDocument, type Operation } from '../../src/contract/contract.ts';
import { Problem, problemStatus, type ProblemCode } from '../../src/errors.ts';
import { describe } from '../../src/locales/describe.ts';
import { code, escapeHtml, heading, textOf, type Slugs } from './html.ts';
import { codesOf } from './operation.ts';
import { pageOfTag } from './reference.ts';

/** A section for each row of the table of problem codes; undefined for any other table. Throws for a code that the service does not have. */
export function problemEntries(document: ContractDocument, slugs: Slugs) {
  return (headings: string[], rows: string[][]): string | undefined => {
    if (headings.join() !== 'code,status,meaning,what to do') return undefined;
    const operations = operationsOf(document);
    return rows.map((row) => entryOf(row, operations, slugs)).join('');
  };
}

function entryOf([codeCell = '', status = '', meaning = '', remedy = '']: string[], operations: Operation[], slugs: Slugs): string {
  const name = textOf(codeCell);
  if (!Object.hasOwn(problemStatus, name)) throw new Error(`docs/errors.md: there is no problem code ${name}`);
  const { title, detail } = describe('en', new Problem(name as ProblemCode));
  const senders = operations.filter(({ responses }) => Object.values(responses).some((response) => codesOf(response).includes(name)));
  const links = senders.map(({ operationId, tag }) => `<a href="${pageOfTag(tag)}#${operationId}">${operationId}</a>`);
  return `${heading(3, slugs.of(name), code(name))}<p><strong>${status}</strong> ${escapeHtml(title)}</p>
<dl class="problem">
<dt>What happened</dt><dd>${meaning}</dd>
<dt>What to do</dt><dd>${remedy}</dd>
<dt>What people read</dt><dd>${escapeHtml(detail)}</dd>
<dt>Where</dt><dd>${whereOf(links, operations.length)}</dd>
</dl>
`;
}

function whereOf(links: string[], all: number): string {
  if (links.length === 0) return 'Any operation, before or outside of what the contract declares for each.';
  if (links.length <= 6) return links.join(', ');
  return `<details><summary>${links.length === all ? 'All' : links.length} operations</summary>${links.join(', ')}</details>`;
}
