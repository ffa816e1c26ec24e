/** How the suite runs: one PostgreSQL server for all, two processes that run one file after the other. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Processes, not threads: tests send signals, and a broken one takes nobody with it.
    pool: 'forks',
    // Vitest would leave a core free; these tests wait for PostgreSQL and for themselves more than they compute.
    maxWorkers: 2,
    // A process runs file after file with the modules it has loaded; loading them anew for each took a quarter of the processor time of
    // eight files.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // What tests wait for comes at once, but not on a machine that is busy with something else.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters: ['default', 'test/support/coverage-reporter.ts', 'test/support/closing-line.ts'],
  },
});
