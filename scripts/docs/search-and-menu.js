/* The menu on narrow screens, and the search. Pages can be read without either. */
const menu = document.getElementById('site-menu');
const search = document.querySelector('search');
const input = document.getElementById('site-search');
const found = document.getElementById('site-found');
const results = document.getElementById('site-results');
const most = 12;

document.documentElement.classList.add('scripted');
menu.hidden = false;
search.hidden = false;

/* A page that is far down in the list of pages is shown in it. */
const pages = document.getElementById('site-pages');
const current = pages.querySelector('[aria-current]');
if (current && current.offsetTop > pages.clientHeight - 100) pages.scrollTop = current.offsetTop - 100;

menu.addEventListener('click', () => {
  const open = document.documentElement.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(open));
});

/** The text of the sections is a large file, and fetched for who searches. */
let loading;
function load() {
  loading ??= new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = 'search.js';
    script.addEventListener('load', resolve);
    document.head.append(script);
  });
  return loading;
}

/** The sections that have every word, the best first: a word in the heading counts most, then one in the page's title. */
function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = globalThis.sections.flatMap(([href, page, heading, body]) => {
    const [inHeading, inPage, inBody] = [heading, page, body].map((part) => part.toLowerCase());
    let score = 0;
    for (const word of words) {
      if (inHeading === word) score += 40;
      else if (inHeading.includes(word)) score += 10;
      else if (inPage.includes(word)) score += 4;
      else if (inBody.includes(word)) score += 1;
      else return [];
    }
    return [{ href, page, heading, body, score, words }];
  });
  return scored.toSorted((a, b) => b.score - a.score);
}

function show({ href, page, heading, body, words }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = href;
  const name = document.createElement('strong');
  name.textContent = heading;
  const where = document.createElement('span');
  where.textContent = page === heading ? '' : page;
  const about = document.createElement('small');
  const at = Math.max(0, body.toLowerCase().indexOf(words[0]) - 30);
  about.textContent = (at > 0 ? '…' : '') + body.slice(at, at + 110);
  link.append(name, ' ', where, about);
  item.append(link);
  return item;
}

function close() {
  results.hidden = true;
  results.replaceChildren();
  found.textContent = '';
}

async function update() {
  const text = input.value.trim();
  if (text.length < 2) return close();
  await load();
  if (text !== input.value.trim()) return;
  const matches = find(text);
  found.textContent = matches.length === 0 ? 'Nothing found' : `${matches.length} found`;
  const nothing = document.createElement('li');
  nothing.textContent = 'Nothing found';
  results.replaceChildren(...(matches.length === 0 ? [nothing] : matches.slice(0, most).map(show)));
  results.hidden = false;
}

input.addEventListener('focus', () => void load(), { once: true });
input.addEventListener('input', () => void update());
search.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'Enter' && event.target === input) {
    links[0]?.click();
  } else if (step !== undefined && links.length > 0) {
    event.preventDefault();
    const next = links.indexOf(document.activeElement) + step;
    (links[next] ?? (next < 0 ? input : links[0])).focus();
  }
});
results.addEventListener('click', close);
document.addEventListener('click', (event) => {
  if (!search.contains(event.target)) close();
});
document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
