/** The pages that are made of the project's Markdown: README.md in several pieces, and every other document as one. */
import { basename } from 'node:path';
import { lex, plain } from './markdown.ts';
import type { Tokens } from 'marked';

export interface DocumentPage {
  /** The name of the page in the site. */
  file: string;
  /** Where the text stands in the project. */
  source: string;
  title: string;
  /** What is added to the level of its headings, so that the page begins with the first. */
  shift: number;
  markdown: string;
  /** Whether the title is not in the text. */
  untitled: boolean;
}

/** Sections of README.md that have a page of their own. All others are on the first page. */
const pieces: { file: string; title?: string; sections: string[] }[] = [
  { file: 'guide.html', title: 'First steps', sections: ['Five minutes with curl', 'From a program'] },
  { file: 'settings.html', sections: ['Settings'] },
  { file: 'production.html', sections: ['In production'] },
  { file: 'contributing.html', title: 'Working on the service', sections: ['Scripts', 'Map of the code'] },
];

/** The page that is made of a document, as a whole. */
function pageOf(source: string): string {
  if (source === 'README.md') return 'index.html';
  if (source === 'src/client/README.md') return 'client.html';
  return `${basename(source, '.md').toLowerCase()}.html`;
}

/** @param sources the Markdown files of the project, README.md among them */
export function documentPages(sources: string[], read: (source: string) => string): DocumentPage[] {
  return sources.flatMap((source) => {
    const markdown = read(source);
    if (source === 'README.md') return splitReadme(markdown);
    return { file: pageOf(source), source, title: titleOf(markdown), shift: 0, markdown, untitled: false };
  });
}

function titleOf(markdown: string): string {
  const [first] = lex(markdown);
  if (first?.type !== 'heading' || (first as Tokens.Heading).depth !== 1) throw new Error('a document that does not begin with its title');
  return plain((first as Tokens.Heading).tokens);
}

function splitReadme(markdown: string): DocumentPage[] {
  /** The source of each section by its title; what comes before the first has the title ''. */
  const sections = new Map<string, string>();
  let title = '';
  for (const token of lex(markdown)) {
    if (token.type === 'heading' && (token as Tokens.Heading).depth === 2) title = plain((token as Tokens.Heading).tokens);
    sections.set(title, (sections.get(title) ?? '') + token.raw);
  }
  const take = (name: string) => {
    const text = sections.get(name);
    if (text === undefined) throw new Error(`README.md has no section "${name}"`);
    sections.delete(name);
    return text;
  };
  const source = 'README.md';
  const pages = pieces.map(({ file, title, sections: names }): DocumentPage => {
    const text = names.map(take).join('');
    if (title !== undefined) return { file, source, title, shift: 0, markdown: text, untitled: true };
    return { file, source, title: names[0] ?? '', shift: -1, markdown: text, untitled: false };
  });
  return [
    { file: pageOf(source), source, title: titleOf(markdown), shift: 0, markdown: [...sections.values()].join(''), untitled: false },
    ...pages,
  ];
}
