/** Prints the test files that took longest, at the end of a run of many files. */
import type { Reporter, TestModule } from 'vitest/node';

const leastFiles = 20;
const shown = 10;

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < leastFiles) return;
    const timed = modules
      .map((module) => ({ file: module.relativeModuleId, seconds: module.diagnostic().duration / 1_000 }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, shown);
    const lines = timed.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}\n`);
    process.stdout.write(`\nSlowest files:\n${lines.join('')}`);
  }
}
