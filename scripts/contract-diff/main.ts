/**
 * Compares openapi.yaml with the last released document and fails on a change that breaks its callers: part of `npm run check:contract`.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readOptions } from '../lib/options.ts';
import { breaksBetween } from './breaks.ts';
import type { Document } from './schemas.ts';

const usage = `npm run check:contract -- [options]

  --help  print this
`;

readOptions('check:contract', usage, {});
const read = (path: string) =>
  parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as Document & { info: { version: string } };

const released = read('docs/released/openapi.yaml');
const breaks = breaksBetween(released, read('openapi.yaml'));
if (breaks.length > 0) {
  process.stderr.write(`openapi.yaml breaks callers of the released version ${released.info.version}:\n`);
  for (const line of breaks) process.stderr.write(`  ${line}\n`);
  process.exit(1);
}
process.stdout.write(`openapi.yaml breaks no caller of the released version ${released.info.version}.\n`);
