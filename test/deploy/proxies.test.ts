/** The files of the proxies, as far as they can be checked without one. `proxies.long.test.ts` runs them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');

/** The seconds for which the path may be silent: those of its own rule, or of all others. */
const silences: Record<string, (path: string) => string | undefined> = {
  'nginx.conf': (path) => {
    const text = read('nginx.conf');
    const locations = [...text.matchAll(/location ~ (\S+) \{([^}]*)\}/g)];
    const own = locations.find(([, pattern = '']) => new RegExp(pattern).test(path))?.[2] ?? '';
    return (/proxy_read_timeout (\w+);/.exec(own) ?? /proxy_read_timeout (\w+);/.exec(text))?.[1];
  },
  'haproxy.cfg': (path) => {
    const text = read('haproxy.cfg');
    const rules = [...text.matchAll(/set-timeout server (\w+) if \{ path_end (\S+) \}/g)];
    return rules.find(([, , end = '']) => path.endsWith(end))?.[1] ?? /timeout server (\w+)/.exec(text)?.[1];
  },
};

test.each(Object.keys(silences))(
  '%s waits longer for streams that may be silent: imports, and exports whose filter finds nothing',
  (file) => {
    const timeOf = (end: string) => silences[file]?.(`/rest/entity/customer${end}`);
    expect(['/import', '/export', '/1', '/exports'].map(timeOf)).toEqual(['40s', '10m', '20s', '20s']);
  },
);
