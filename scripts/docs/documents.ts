/** The pages that are made of the project's Markdown: each document is one. */
import { basename } from 'node:path';
import { lex, plain } from './markdown.ts';
import type { Tokens } from 'marked';

export interface DocumentPage {
  /** The name of the page in the site. */
  file: string;
  /** Where the text stands in the project. */
  source: string;
  title: string;
  markdown: string;
}

/** The page that is made of a document. */
function pageOf(source: string): string {
  if (source === 'README.md') return 'index.html';
  if (source === 'src/client/README.md') return 'client.html';
  return `${basename(source, '.md').toLowerCase()}.html`;
}

/** @param sources the Markdown files of the project */
export function documentPages(sources: string[], read: (source: string) => string): DocumentPage[] {
  return sources.map((source) => {
    const markdown = read(source);
    return { file: pageOf(source), source, title: titleOf(markdown), markdown };
  });
}

function titleOf(markdown: string): string {
  const [first] = lex(markdown);
  if (first?.type !== 'heading' || (first as Tokens.Heading).depth !== 1) throw new Error('a document that does not begin with its title');
  return plain((first as Tokens.Heading).tokens);
}
