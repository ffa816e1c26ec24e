/** Prints `N passed, N failed, N skipped` as the very last line of a run: what CI reads. */
import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  // A run that never reaches its end (the server of the suite did not start, for example) has failed.
  private line = '0 passed, 1 failed, 0 skipped';

  onInit(): void {
    process.once('exit', () => writeSync(1, `${this.line}\n`));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state] += 1;
        if (state === 'failed') failedTests += 1;
      }
      // A file or a hook can fail without any test of it having failed.
      if (module.state() === 'failed' && failedTests === 0) count.failed += 1;
    }
    this.line = `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`;
  }
}
