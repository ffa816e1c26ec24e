/** How the suite runs: one PostgreSQL server for all, a process per test file, as many at a time as there are cores. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Processes, not threads: tests send signals, and native modules are loaded afresh for each file.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // What tests wait for comes at once, but not on a machine that is busy with something else.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters: ['default', 'test/support/coverage-reporter.ts', 'test/support/closing-line.ts'],
  },
});
