/** The documentation as a static site, in memory: every page, and what the pages need to be looked at without a server. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readContract } from '../../src/contract/contract.ts';
import { Attachments } from './attachments.ts';
import { documentPages, type DocumentPage } from './documents.ts';
import { sectionsOf, Slugs } from './html.ts';
import { faultsOf } from './links.ts';
import { renderMarkdown } from './markdown.ts';
import { layOut, navigationOf, type Page } from './navigation.ts';
import { problemEntries } from './problem-entry.ts';
import { referencePages } from './reference.ts';

const root = join(import.meta.dirname, '../..');
const readProject = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The Markdown that pages are made of. A new document is one of them by being there. */
function documentsOfProject(): string[] {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'src/client/README.md', ...docs.map((name) => `docs/${name}`)];
}

/**
 * The files of the site by their names; none is in a folder. Throws with a line for each fault when a link or anchor leads nowhere.
 *
 * @param read gives the text of a document of the project, by its path there
 */
export function buildSite(read = readProject): Map<string, string | Buffer> {
  const contract = readContract();
  const documents = documentPages(documentsOfProject(), read);
  const attachments = new Attachments(root);
  const faults: string[] = [];
  const rendered = documents.map((page): Page => {
    const { file, title } = page;
    return { file, title: file === 'index.html' ? 'Introduction' : title, body: render(page) };
  });
  const pages = [...rendered, ...referencePages(contract.document), ...attachments.pages.values()];
  const { title, version } = contract.document.info;
  const files = new Map<string, string | Buffer>([
    ...pages.map((page): [string, string] => [page.file, layOut(page, pages, { title, version })]),
    ['openapi.yaml', contract.text],
    ['site.css', ['frame', 'bar', 'text', 'contract'].map((name) => asset(`styles/${name}.css`)).join('\n')],
    ['site.js', asset('search-and-menu.js')],
    ['search.js', searchIndex(pages)],
    ...attachments.files,
  ]);
  faults.push(...faultsOf(files));
  if (faults.length > 0) throw new Error(`the documentation has faults:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  return files;

  function render(page: DocumentPage): string {
    const slugs = new Slugs();
    const replaceTable = page.source === 'docs/errors.md' ? { replaceTable: problemEntries(contract.document, slugs) } : {};
    const locate = (target: string): string => locateFrom(page, target);
    return renderMarkdown(page.markdown, { slugs, locate, ...replaceTable });
  }

  /** Where a link of a document leads in the site. */
  function locateFrom({ source, file }: DocumentPage, target: string): string {
    const [path = '', anchor] = target.split('#');
    const full = path === '' ? source : posix.join(posix.dirname(source), path);
    const candidates = documents.filter((document) => document.source === full);
    const page = candidates.find(({ markdown }) => anchor !== undefined && anchorsOf(markdown).has(anchor)) ?? candidates[0];
    if (page) return `${page.file === file && anchor !== undefined ? '' : page.file}${anchor === undefined ? '' : `#${anchor}`}`;
    try {
      return attachments.locate(full);
    } catch {
      faults.push(`${source}: nothing at ${target}`);
      return file;
    }
  }
}

/** The anchors of the headings, as links in documents name them. */
function anchorsOf(markdown: string): Set<string> {
  const html = renderMarkdown(markdown, { slugs: new Slugs(), locate: (target) => target });
  return new Set(sectionsOf(html).map(({ id }) => id));
}

function asset(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}

/** What the search looks through, as a script: pages that are opened as files can fetch nothing. */
function searchIndex(pages: Page[]): string {
  const ordered = [...navigationOf(pages).flatMap(([, members]) => members), ...pages.filter(({ unlisted }) => unlisted)];
  const entries = ordered.flatMap(({ file, title, body }) => {
    let chapter = '';
    return sectionsOf(body).map((section) => {
      if (section.level <= 2) chapter = '';
      const place = chapter === '' ? title : `${title} › ${chapter}`;
      if (section.level === 2) chapter = section.title;
      return [`${file}#${section.id}`, place, section.title, section.text];
    });
  });
  return `globalThis.sections = ${JSON.stringify(entries)};\n`;
}
