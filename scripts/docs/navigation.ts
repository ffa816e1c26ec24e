/** The order of the pages, and what is round each of them. */
import { escapeHtml, sectionsOf } from './html.ts';

export interface Page {
  file: string;
  title: string;
  /** HTML, from the heading of the first level on. */
  body: string;
  /** Whether it is reached by links only. */
  unlisted?: boolean;
}

/** Pages by group. What is in none, as a new document, comes last in Operation. */
const groups: Record<string, RegExp> = {
  Start: /^(index|tour|sign-in|client|comparison|changelog)$/,
  API: /^(api|api-.*|schemas|errors)$/,
  Operation: /^(settings|production|admin|entity-types|issuers|audit|observability)$/,
  Project: /^(architecture|security|reliability|performance|decisions|contributing)$/,
};

/** The pages of each group in the order that its expression names them. */
export function navigationOf(pages: Page[]): [group: string, pages: Page[]][] {
  const left = new Set(pages.filter(({ unlisted }) => !unlisted));
  const listed = Object.entries(groups).map(([group, names]): [string, Page[]] => {
    const order = names.source.slice(2, -2).split('|');
    const members = [...left].filter(({ file }) => names.test(nameOf(file)));
    for (const member of members) left.delete(member);
    const place = ({ file }: Page) => order.findIndex((name) => new RegExp(`^${name}$`).test(nameOf(file)));
    return [group, members.toSorted((a, b) => place(a) - place(b))];
  });
  for (const [group, members] of listed) if (group === 'Operation') members.push(...left);
  return listed;
}

function nameOf(file: string): string {
  return file.replace(/\.html$/, '');
}

/** The whole document of a page. */
export function layOut(page: Page, pages: Page[], site: { title: string; version: string }): string {
  const { title, version } = site;
  const groups = navigationOf(pages).map(([group, members], index) => {
    const items = members.map((member) => item(member, member === page)).join('\n');
    return `<p id="site-group-${index}" class="group">${group}</p>\n<ul aria-labelledby="site-group-${index}">\n${items}\n</ul>`;
  });
  const name = page.file === 'index.html' ? title : `${page.title} · ${title}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="site.css">
<script src="site.js" defer></script>
</head>
<body>
<a class="skip" href="#site-content">Skip to the content</a>
<header class="top">
<a class="home" href="index.html">${escapeHtml(title)} <span class="version">${escapeHtml(version)}</span></a>
<search hidden>
<label class="unseen" for="site-search">Search</label>
<input id="site-search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-controls="site-results" aria-describedby="site-found">
<p id="site-found" class="unseen" role="status"></p>
<ul id="site-results" hidden></ul>
</search>
<button id="site-menu" type="button" aria-expanded="false" aria-controls="site-pages" hidden>Menu</button>
</header>
<nav id="site-pages" aria-label="Pages">
${groups.join('\n')}
</nav>
<main id="site-content" tabindex="-1">
${page.body}</main>
<footer>Made from the contract and the documents of ${escapeHtml(title)} ${escapeHtml(version)}.</footer>
</body>
</html>
`;
}

/** A page in the navigation, and its sections where it is the one that is shown. */
function item(page: Page, current: boolean): string {
  const link = `<a href="${page.file}"${current ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>`;
  const sections = current ? sectionsOf(page.body).filter(({ level }) => level === 2) : [];
  if (sections.length < 2) return `<li>${link}</li>`;
  return `<li>${link}\n<ul>\n${sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`).join('\n')}\n</ul></li>`;
}
