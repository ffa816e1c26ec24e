/** The options of `npm run test:mutants`. */
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  seed: number;
  count: number;
  only: string[];
  list: boolean;
  json: boolean;
  timeoutMs: number;
}

/** Their tests start whole processes, which the run of a mistake leaves out: `reach.ts`. */
const leftOut = new Set(['cli', 'client', 'locales', 'start']);

const folders = readdirSync(join(import.meta.dirname, '../../src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !leftOut.has(entry.name))
  .map(({ name }) => `src/${name}`);

const usage = `npm run test:mutants -- [options]

  --count N     number of mistakes (100)
  --seed N      the mistakes of this seed (a new one each time)
  --only PATH   a folder or file to make them in; can be repeated (all of src except ${[...leftOut].join(', ')})
  --timeout S   processor seconds until the tests of one mistake are killed, which counts as caught (180);
                after five times as long on the clock they are killed as well, which counts as a timeout
  --list        prints the mistakes and makes none
  --json        prints one JSON document
  --help        prints this
`;

/** Reads the options. Prints the usage and ends the process for wrong options and for --help. */
export function readOptions(): Options {
  const { values } = parse();
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const number = (name: 'seed' | 'count' | 'timeout') => {
    const text = values[name];
    return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : fail(`--${name} must be a whole number above 0`);
  };
  const only = (values.only ?? folders).map((path) => path.replace(/\/$/, ''));
  for (const path of only) if (!path.startsWith('src/')) fail(`--only ${path}: must be below src/`);
  return { seed: number('seed'), count: number('count'), only, list: values.list, json: values.json, timeoutMs: number('timeout') * 1_000 };
}

function parse() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
        count: { type: 'string', default: '100' },
        only: { type: 'string', multiple: true },
        timeout: { type: 'string', default: '180' },
        list: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(reason: string): never {
  process.stderr.write(`test:mutants: ${reason}\n\n${usage}`);
  process.exit(2);
}
