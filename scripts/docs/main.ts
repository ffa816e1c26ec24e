/** Makes the documentation as static pages: `npm run docs`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serveSite } from './serve.ts';
import { buildSite } from './site.ts';

const usage = `npm run docs -- [options]

  --out DIR   where the pages are written (site)
  --serve     writes nothing; a browser of this machine can look at them until Ctrl-C
  --port N    for another port than 4000
  --help      print this
`;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string', default: 'site' },
        serve: { type: 'boolean', default: false },
        port: { type: 'string', default: '4000' },
        help: { type: 'boolean', default: false },
      },
    });
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) throw new TypeError(`not a port: ${values.port}`);
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    return values;
  } catch (error) {
    process.stderr.write(`docs: ${(error as Error).message}\n\n${usage}`);
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
