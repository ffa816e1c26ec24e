/** Files of the project that documents link to and that are no pages themselves. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { codeBlock, escapeHtml, heading, Slugs } from './html.ts';
import type { Page } from './navigation.ts';

/** Collects what is linked to: pictures as they are, other files and whole directories as pages that show them. */
export class Attachments {
  readonly pages = new Map<string, Page>();
  readonly files = new Map<string, Buffer>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Where the file or directory is in the site. Throws when it does not exist. */
  locate(path: string): string {
    const full = join(this.#root, path);
    if (path === 'openapi.yaml') return path;
    if (['.png', '.jpg', '.svg'].includes(extname(path))) {
      this.files.set(basename(path), readFileSync(full));
      return basename(path);
    }
    const file = `file-${path.replaceAll('/', '-')}.html`;
    if (!this.pages.has(file)) this.pages.set(file, { file, title: basename(path), body: show(full, path), unlisted: true });
    return file;
  }
}

function show(full: string, path: string): string {
  const title = heading(1, 'top', escapeHtml(basename(path)));
  const place = `<p><code>${escapeHtml(path)}</code></p>\n`;
  if (!statSync(full).isDirectory()) return title + place + listing(full);
  const slugs = new Slugs();
  const names = readdirSync(full, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  const listings = names.toSorted().map((name) => heading(2, slugs.of(name), escapeHtml(name)) + listing(join(full, name)));
  return title + place + listings.join('');
}

function listing(full: string): string {
  return codeBlock(readFileSync(full, 'utf8'), extname(full).slice(1));
}
