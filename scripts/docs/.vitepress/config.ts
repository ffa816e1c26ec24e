/** How VitePress makes the documentation: which files are pages, where links lead, and the list of pages. */
import { cpSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { readContract } from '../../../src/contract/contract.ts';

const project = join(import.meta.dirname, '../../..');
const { title, version } = readContract().document.info;

// VitePress takes a link with any other ending for a page.
process.env['VITE_EXTRA_EXTENSIONS'] = 'sql';

const cache = join(project, 'node_modules/.cache/entity-service-docs');
/** Files here are in the site as they are. */
export const publicDirectory = join(cache, 'public');

/** Groups of the list of pages. A page that no group names, such as a new document, comes last in Operation. */
const groups: Record<string, string[]> = {
  Start: ['README.md', 'docs/tour.md', 'docs/sign-in.md', 'src/client/README.md', 'docs/comparison.md', 'CHANGELOG.md'],
  API: ['docs/errors.md', 'docs/entity-types.md'],
  Operation: ['docs/settings.md', 'docs/production.md', 'docs/admin.md', 'docs/issuers.md', 'docs/audit.md', 'docs/observability.md'],
  Project: [
    'docs/architecture.md',
    'CONTRIBUTING.md',
    'docs/security.md',
    'docs/reliability.md',
    'docs/performance.md',
    'docs/decisions.md',
  ],
};

const pages = globSync(['*.md', 'docs/*.md', 'src/client/*.md'], { cwd: project });

/** A page in the list, with the first heading of the file as its title. */
function listed(file: string) {
  const text = file === 'README.md' ? 'Introduction' : /^# (.+)$/m.exec(readFileSync(join(project, file), 'utf8'))?.[1];
  if (text === undefined) throw new Error(`${file} has no title`);
  return { text: text.replaceAll('`', ''), link: `/${toIndex(file)}` };
}

/** The first page of a folder is `index` in the site and `README` in the project. */
function toIndex(target: string): string {
  return target.replace(/README(?=\.md(#|$))/, 'index');
}

function sidebar() {
  const named = new Set(Object.values(groups).flat());
  const rest = pages.filter((page) => !named.has(page)).sort();
  return Object.entries(groups).map(([text, files]) => {
    const members = [...files.filter((file) => pages.includes(file)), ...(text === 'Operation' ? rest : [])];
    const reference = text === 'API' ? [{ text: 'Reference', link: '/api.html', target: '_self' }] : [];
    return { text, items: [...reference, ...members.map(listed)] };
  });
}

export default defineConfig({
  title,
  description: `The documentation of ${title} ${version}`,
  lang: 'en',
  srcDir: project,
  srcExclude: globSync('**/*.md', { cwd: project, exclude: ['node_modules'] }).filter((file) => !pages.includes(file)),
  rewrites: Object.fromEntries(pages.map((page) => [page, toIndex(page)])),
  cacheDir: join(cache, 'vite'),
  vite: { publicDir: publicDirectory },
  // The examples of the documents call the service on the reader's machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // Anchors as GitHub makes them, so that a link to a section holds in both places.
    anchor: { slugify: (text) => slug(text) },
    config(markdown) {
      const normalizeLink = markdown.normalizeLink.bind(markdown);
      markdown.normalizeLink = (target) => normalizeLink(toIndex(target));
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sidebar(),
    footer: { message: `Made from the contract and the documents of ${title} ${version}.` },
  },
  /** Copies the files that documents link to and that are no pages, such as examples and tests. */
  buildEnd({ outDir }) {
    for (const page of pages) {
      const links = readFileSync(join(project, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g);
      const files = [...links].map(([, target = '']) => join(dirname(page), target)).filter((file) => !file.endsWith('.md'));
      for (const file of files) cpSync(join(project, file), join(outDir, file));
    }
  },
});
