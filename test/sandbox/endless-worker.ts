/** A thread for the tests of the sandbox: computes for ever, takes all memory, fails, or answers. */
import { serveSandbox } from '../../src/sandbox/serve.ts';

serveSandbox((input: string, report) => {
  report(`/${input}`);
  const taken: string[][] = [];
  if (input === 'endless') for (let n = 0; ; n++) if (n < 0) return '';
  if (input === 'memory') for (;;) taken.push(Array.from({ length: 100_000 }, (_, n) => `${n}`));
  if (input === 'failure') throw new Error('a defect');
  return `${input}, and ${Object.keys(process.env).length} variables of the environment`;
});
