/** Follows every link of the finished site. */
import { posix } from 'node:path';

/** What is wrong with the links and ids of the site, a line each; links to other sites are not followed. */
export function faultsOf(files: ReadonlyMap<string, string | Buffer>): string[] {
  const pages = [...files].flatMap(([file, text]) => (file.endsWith('.html') ? [[file, String(text)] as const] : []));
  const ids = new Map(pages.map(([file, html]) => [file, [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)]));
  return pages.flatMap(([file, html]) => {
    const own = ids.get(file) ?? [];
    const repeated = own.filter((id, index) => own.indexOf(id) !== index).map((id) => `${file}: two places are called #${id}`);
    const targets = new Set([...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target = '']) => target.replaceAll('&amp;', '&')));
    const broken = [...targets].filter((target) => !/^(https?|mailto|data):/.test(target) && !leadsSomewhere(file, target));
    return repeated.concat(broken.map((target) => `${file}: nothing at ${target}`));
  });

  function leadsSomewhere(from: string, target: string): boolean {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? from : posix.normalize(path);
    if (!files.has(file)) return false;
    return anchor === undefined || ids.get(file)?.includes(decodeURIComponent(anchor)) === true;
  }
}
