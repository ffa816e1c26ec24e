/**
 * Lists sentences that do not begin with their subject and are no exception: `npm run check:sentences`. With `-- --all` it lists the exceptions too, and with
 * `-- --update` it removes those from the list that have been mended.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../lib/options.ts';
import { exceptionsOf, findClauseFirst } from './find.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const list = new URL('exceptions.txt', import.meta.url);
const usage = `npm run check:sentences -- [options]

  --all      print the exceptions too
  --update   remove exceptions from the list that have been mended
  --help     print this
`;
const { values } = readOptions('check:sentences', usage, {
  all: { type: 'boolean', default: false },
  update: { type: 'boolean', default: false },
});

const exceptions = exceptionsOf(readFileSync(list, 'utf8'));
const found = findClauseFirst(root);
const added = found.filter((sentence) => !exceptions.has(sentence));
if (values.update)
  writeFileSync(
    list,
    found
      .filter((sentence) => exceptions.has(sentence))
      .map((sentence) => `${sentence}\n`)
      .join(''),
  );
for (const sentence of values.all ? found : added) console.log(sentence);
if (added.length > 0) process.exitCode = 1;
