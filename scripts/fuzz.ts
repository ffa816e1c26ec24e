/** Sends many random requests, and the same again: `npm run test:fuzz -- --cases 100000 --seed 1`. The suite sends 2,000 of another seed each time. */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string' } } });

for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,8}$/.test(value)) {
    process.stderr.write(`--${name} must be a whole number above 0\n`);
    process.exit(1);
  }
}
const child = spawn('vitest', ['run', 'test/contract/fuzz.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_CASES: values.cases, ...(values.seed !== undefined && { FUZZ_SEED: values.seed }) },
});
child.on('exit', (code) => process.exit(code ?? 1));
