/** Markdown made into HTML: headings that can be linked to, tables and code that scroll, no HTML but ours. */
import { Marked, type Token, type Tokens } from 'marked';
import { code, codeBlock, escapeHtml, heading, textOf, type Slugs } from './html.ts';

export interface MarkdownOptions {
  slugs: Slugs;
  /** Where a link or picture of the text that is no address on the web leads in the site. */
  locate: (target: string) => string;
  /** HTML in place of a table, or undefined for the table itself. `cells` are HTML. */
  replaceTable?: (headings: string[], cells: string[][]) => string | undefined;
}

/** The top level of a text, each part with its source in `raw`. */
export function lex(text: string): Token[] {
  return new Marked().lexer(text);
}

/** Throws when the text has HTML in it, comments apart, or a link within a heading, which is a link itself. */
export function renderMarkdown(text: string, { slugs, locate, replaceTable }: MarkdownOptions): string {
  const marked = new Marked({ gfm: true });
  const linkTo = (target: string) => escapeHtml(/^(https?|mailto):/.test(target) ? target : locate(target));
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        if (tokens.some(({ type }) => type === 'link')) throw new Error(`a link within the heading "${plain(tokens)}"`);
        return heading(depth, slugs.of(plain(tokens)), this.parser.parseInline(tokens));
      },
      code: ({ text, lang }) => codeBlock(text, lang),
      codespan: ({ text }) => code(text),
      html({ text }) {
        if (!/^<!--[^]*-->\s*$/.test(text)) throw new Error(`HTML in Markdown: ${text.trim()}`);
        return '';
      },
      link({ href, tokens }) {
        return `<a href="${linkTo(href)}">${this.parser.parseInline(tokens)}</a>`;
      },
      image: ({ href, text }) => `<img src="${linkTo(href)}" alt="${escapeHtml(text)}" loading="lazy">`,
      table({ header, rows }) {
        const cellsOf = (row: Tokens.TableCell[]) => row.map(({ tokens }) => this.parser.parseInline(tokens));
        const headings = cellsOf(header);
        const replaced = replaceTable?.(headings, rows.map(cellsOf));
        if (replaced !== undefined) return replaced;
        const body = rows.map((row) => `<tr${rowId(headings[0] ?? '', row[0], slugs)}>${dataCells(headings, cellsOf(row))}</tr>\n`);
        return table(headings, body.join(''));
      },
    },
  });
  return marked.parse(text, { async: false });
}

/** A table that scrolls where it is too wide. `headings` are HTML, `body` is the rows. */
export function table(headings: string[], body: string): string {
  const label = headings.map(textOf).join(', ');
  const head = `<thead><tr>${headings.map((content) => `<th scope="col">${content}</th>`).join('')}</tr></thead>`;
  return `<div class="table" role="region" aria-label="Table: ${escapeHtml(label)}" tabindex="0"><table>${head}\n<tbody>\n${body}</tbody></table></div>\n`;
}

/** The cells of a row. Narrow screens show each under its heading. */
export function dataCells(headings: string[], contents: string[]): string {
  return contents.map((content, column) => `<td data-heading="${escapeHtml(textOf(headings[column] ?? ''))}">${content}</td>`).join('');
}

/** Rows that are about one word of code, or numbered, can be linked to: `#public_url`, `#rule-19`. */
function rowId(firstHeading: string, cell: Tokens.TableCell | undefined, slugs: Slugs): string {
  const [token, ...others] = cell?.tokens ?? [];
  if (token === undefined || others.length > 0) return '';
  if (token.type === 'codespan') return ` id="${slugs.of(plain([token]))}"`;
  return /^\d+$/.test(token.raw) ? ` id="${slugs.of(`${firstHeading} ${token.raw}`)}"` : '';
}

/** The text of tokens without their markup. */
export function plain(tokens: Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? String(token.text) : ''))
    .join('');
}
