/**
 * Sends many random requests, reproducible by their seed: `npm run fuzz -- --cases 100000 --seed 1`. The suite sends 1,300 with a new
 * seed each time.
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const usage = `npm run fuzz -- [options]

  --cases N   number of random requests, at least 2000 (100000)
  --seed N    sends the requests of this seed (a new one each time)
  --help      print this
`;
/** The run requires every kind of answer. With fewer requests it would be chance whether all occur. */
const leastCases = 2_000;

const { cases, seed } = readOptions();
const child = spawn('vitest', ['run', 'test/contract/fuzz.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_CASES: cases, ...(seed !== undefined && { FUZZ_SEED: seed }) },
});
child.on('exit', (code) => process.exit(code ?? 1));

function readOptions(): { cases: string; seed: string | undefined } {
  const fail = (reason: string): never => {
    process.stderr.write(`fuzz: ${reason}\n\n${usage}`);
    process.exit(2);
  };
  const read = () => {
    try {
      const options = {
        cases: { type: 'string', default: '100000' },
        seed: { type: 'string' },
        help: { type: 'boolean', default: false },
      } as const;
      return parseArgs({ options }).values;
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
  };
  const { cases, seed, help } = read();
  if (help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const isWhole = (text: string) => /^[1-9]\d{0,8}$/.test(text);
  if (!isWhole(cases) || Number(cases) < leastCases) fail(`--cases must be a whole number of at least ${leastCases}`);
  if (seed !== undefined && !isWhole(seed)) fail('--seed must be a whole number above 0');
  return { cases, seed };
}
