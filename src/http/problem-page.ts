/**
 * A problem as a page, for the operations that a browser opens by itself. The policy of every answer allows neither scripts nor styles (rule
 * 82), so the page has none.
 */
import type { ProblemLinks } from '../problems/errors.ts';
import { catalogues } from '../locales/describe.ts';
import type { Locale } from '../locales/negotiate.ts';
import type { ProblemDocument } from './problem.ts';

/** HTML with the texts of `document`, in its locale, its code and its id for the operator, and the links. */
export function problemPage({ title, detail, code, instance }: ProblemDocument, locale: Locale, links: ProblemLinks): string {
  const { retry, back } = catalogues[locale].page;
  const items = [linkTo(links.retry, retry), linkTo(links.back, back)].filter((item) => item !== undefined);
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(detail)}</p>
${items.map((item) => `<p>${item}</p>`).join('\n')}
<p><code>${escaped(code)}</code> <code>${escaped(instance)}</code></p>
</main>
</body>
</html>
`;
}

function linkTo(path: string | undefined, text: string): string | undefined {
  return path === undefined ? undefined : `<a href="${escaped(path)}">${escaped(text)}</a>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
