/** Prints why tests were skipped, and `N passed, N failed, N skipped` as the very last line of a run. CI reads that line. */
import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  private readonly reasons = new Set<string>();
  private readonly count = { passed: 0, failed: 0, skipped: 0, pending: 0 };

  onInit(): void {
    process.once('exit', (code) => {
      const { passed, skipped, pending } = this.count;
      // A run can fail without a failed test: when the suite's server does not start, when the run is interrupted, or when no file matches.
      const failed = code === 0 ? this.count.failed : Math.max(1, this.count.failed);
      for (const reason of this.reasons) writeSync(1, `${reason}\n`);
      writeSync(1, `${passed} passed, ${failed} failed, ${skipped + pending} skipped\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.count.failed += unhandledErrors.length;
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const result = test.result();
        const { state } = result;
        this.count[state] += 1;
        if (result.state === 'skipped' && result.note) this.reasons.add(`skipped: ${test.name}: ${result.note}`);
        if (state === 'failed') failedTests += 1;
      }
      // A file or a hook can fail although none of its tests has failed.
      if (module.state() === 'failed' && failedTests === 0) this.count.failed += 1;
    }
  }
}
