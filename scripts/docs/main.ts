/** Makes the documentation as static pages: `npm run docs`. VitePress makes the documents into pages, Redoc the contract. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, createServer } from 'vitepress';
import { publicDirectory } from './.vitepress/config.ts';

const project = join(import.meta.dirname, '../..');
const usage = `npm run docs -- [options]

  --out DIR   where the pages are written (site)
  --serve     writes nothing; a browser on this machine can read the pages until Ctrl-C, and sees each change of a document
  --port N    port for --serve (4000)
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

/** Redoc would load its logo from its maker's server. */
const policy = `<meta http-equiv="content-security-policy" content="default-src 'self' 'unsafe-inline' data: blob:">`;

/** Writes the reference of the contract as one page that loads nothing from elsewhere. */
function writeReference(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const redocly = join(createRequire(import.meta.url).resolve('@redocly/cli/package.json'), '../bin/cli.js');
  const args = ['build-docs', join(project, 'openapi.yaml'), '--inlineBundle', '--output', file];
  execFileSync(process.execPath, [redocly, ...args], {
    stdio: 'ignore',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  writeFileSync(file, readFileSync(file, 'utf8').replace('<head>', `<head>${policy}`));
}

const { out, serve, port } = readArguments();
writeReference(join(publicDirectory, 'api.html'));
if (serve) {
  const server = await createServer(import.meta.dirname, { host: 'localhost', port: Number(port) });
  await server.listen();
  server.printUrls();
} else {
  await build(import.meta.dirname, { outDir: resolve(out) });
  process.stdout.write(`The site is in ${resolve(out)}. "npm run docs -- --serve" shows it, and so does any static web server.\n`);
}
