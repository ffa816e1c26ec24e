/**
 * Makes the documentation as static pages: `npm run docs`, into `site` or with `-- --out DIR` elsewhere. With `-- --serve` nothing is
 * written, and a browser of this machine can look at it until Ctrl-C; `--port n` for another port than 4000.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serveSite } from './docs/serve.ts';
import { buildSite } from './docs/site.ts';

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string', default: 'site' },
        serve: { type: 'boolean', default: false },
        port: { type: 'string', default: '4000' },
      },
    });
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) throw new TypeError(`not a port: ${values.port}`);
    return values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(2);
  }
}

const { out, serve, port } = readArguments();
let files: ReturnType<typeof buildSite>;
try {
  files = buildSite();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
if (serve) {
  serveSite(files).listen(Number(port), 'localhost', () => process.stdout.write(`http://localhost:${port}/\n`));
} else {
  mkdirSync(out, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(out, name), content);
  process.stdout.write(`${files.size} files in ${resolve(out)}; begin with index.html\n`);
}
