/** Text as HTML, and the places in a page that can be linked to. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** The text as content of an element or as a value in double quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** A block of code, which the keyboard can reach to scroll it. */
export function codeBlock(text: string, language = ''): string {
  const name = language === '' ? '' : ` class="language-${escapeHtml(language)}"`;
  return `<pre tabindex="0"><code${name}>${escapeHtml(text.replace(/\n$/, ''))}</code></pre>\n`;
}

/** A heading that is a link to itself. `content` is HTML without a link in it. */
export function heading(level: number, id: string, content: string): string {
  return `<h${level} id="${id}"><a class="permalink" href="#${id}">${content}</a></h${level}>\n`;
}

/** Gives out the ids of one page, each once: those that GitHub gives to headings, so that links in the documents hold in both places. */
export class Slugs {
  readonly #used = new Map<string, number>();

  of(text: string): string {
    const slug = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const times = this.#used.get(slug) ?? 0;
    this.#used.set(slug, times + 1);
    return times === 0 ? slug : this.of(`${slug}-${times}`);
  }
}

export interface Section {
  level: number;
  id: string;
  title: string;
  /** What stands under it, up to the next heading, as text. */
  text: string;
}

/** The parts of a page that `heading` began. */
export function sectionsOf(html: string): Section[] {
  const found = [...html.matchAll(/<h([1-6]) id="([^"]+)">(.*?)<\/h\1>/gs)];
  return found.map((match, index) => {
    const [whole, level, id = '', title = ''] = match;
    const text = html.slice(match.index + whole.length, found[index + 1]?.index);
    return { level: Number(level), id, title: textOf(title), text: textOf(text) };
  });
}

/** The text that a reader sees, on one line. */
export function textOf(html: string): string {
  const text = html.replaceAll(/<\/?(?:code|em|strong|a)\b[^>]*>/g, '').replaceAll(/<[^>]+>/g, ' ');
  return Object.entries(entities)
    .toReversed()
    .reduce((text, [character, entity]) => text.replaceAll(entity, character), text)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
