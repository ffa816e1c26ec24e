/** How the suite runs: one PostgreSQL server for all, a process per test file, two at a time. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Processes, not threads: tests send signals, and native modules are loaded afresh for each file.
    pool: 'forks',
    // Vitest would leave a core free; these tests wait for PostgreSQL and for themselves more than they compute.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // What tests wait for comes at once, but not on a machine that is busy with something else.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters: ['default', 'test/support/coverage-reporter.ts', 'test/support/closing-line.ts'],
  },
});
