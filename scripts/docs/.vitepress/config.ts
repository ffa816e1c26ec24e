/** How VitePress makes the documentation: which files are pages, where links lead, and the list of pages. */
import { cpSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { readContract } from '../../../src/contract/contract.ts';
import { copyCommands } from './copy-commands.ts';

const project = join(import.meta.dirname, '../../..');
const { title, version } = readContract().document.info;

const cache = join(project, 'node_modules/.cache/entity-service-docs');
/** Files here are in the site as they are. */
export const publicDirectory = join(cache, 'public');

/** Groups of the list of pages. A page that no group names, such as a new document, comes last in Operate. */
const groups: Record<string, string[]> = {
  Start: ['README.md', 'docs/tour.md', 'docs/concepts.md', 'docs/limits.md', 'docs/comparison.md'],
  Develop: [
    'docs/modelling.md',
    'docs/filters.md',
    'docs/batch.md',
    'docs/history.md',
    'docs/import.md',
    'docs/front-end.md',
    'src/client/README.md',
    'docs/typed-clients.md',
    'docs/sign-in.md',
    'docs/errors.md',
    'docs/entity-types.md',
    'docs/from-a-schema.md',
  ],
  Operate: [
    'docs/rights.md',
    'docs/settings.md',
    'docs/production.md',
    'docs/kubernetes.md',
    'docs/own-database.md',
    'docs/backup.md',
    'docs/scaling.md',
    'docs/upgrade.md',
    'docs/admin.md',
    'docs/issuers.md',
    'docs/audit.md',
    'docs/observability.md',
    'CHANGELOG.md',
  ],
  Project: [
    'docs/architecture.md',
    'CONTRIBUTING.md',
    'docs/security.md',
    'docs/reliability.md',
    'docs/performance.md',
    'docs/decisions.md',
    'docs/decisions/api.md',
    'docs/decisions/rights.md',
    'docs/decisions/entities.md',
    'docs/decisions/database.md',
    'docs/decisions/operations.md',
    'docs/decisions/tooling.md',
  ],
};

const pages = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md', 'generated/admission.md', 'src/client/*.md'], { cwd: project });

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

/** Whether a link leads to a file of the project that is no page. */
function isFile(target: string): boolean {
  return !/^[a-z]+:|^#|\.md(#|$)/.test(target);
}

function sidebar() {
  const named = new Set(Object.values(groups).flat());
  const rest = pages.filter((page) => !named.has(page)).sort();
  return Object.entries(groups).map(([text, files]) => {
    const members = [...files.filter((file) => pages.includes(file)), ...(text === 'Operate' ? rest : [])];
    const reference = text === 'Develop' ? [{ text: 'API reference', link: '/api.html', target: '_self' }] : [];
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
  // The name of a code block's language has too little contrast in VitePress.
  head: [['style', {}, 'html:root { --vp-code-lang-color: var(--vp-c-text-2); }']],
  cacheDir: join(cache, 'vite'),
  vite: { publicDir: publicDirectory },
  // The examples of the documents call the service on the reader's machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // VitePress's own themes show comments in too little contrast.
    theme: { light: 'github-light-default', dark: 'github-dark-default' },
    codeTransformers: [copyCommands],
    // Anchors as GitHub makes them, so that a link to a section holds in both places.
    anchor: { slugify: (text) => slug(text) },
    config(markdown) {
      const normalizeLink = markdown.normalizeLink.bind(markdown);
      markdown.normalizeLink = (target) => normalizeLink(toIndex(target));
      // VitePress takes a link to a file such as LICENSE for a page, unless the link has a target.
      markdown.core.ruler.push('files', ({ tokens }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type === 'link_open' && isFile(token.attrGet('href') ?? '')) token.attrSet('target', '_self');
        }
      });
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
      const files = [...links].map(([, target = '']) => target).filter((target) => isFile(target));
      for (const file of files.map((target) => join(dirname(page), target))) cpSync(join(project, file), join(outDir, file));
    }
  },
});
