/** How the suite runs: one PostgreSQL server for all, three processes that run one file after the other. */
import { configDefaults, defineConfig } from 'vitest/config';
import LongFilesFirst from './test/support/long-files-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // `npm run test:long` runs these: vitest.long.config.ts.
    exclude: [...configDefaults.exclude, 'test/**/*.long.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Processes, not threads: tests send signals, and a broken one takes nobody with it.
    pool: 'forks',
    // For two cores: a process of these waits for PostgreSQL, timeouts and other processes a third of the time.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    // A process runs file after file with the modules it has loaded; loading them anew for each took a quarter of the processor time of
    // eight files.
    isolate: false,
    // Ten times what the longest test without a timeout of its own takes on a quiet machine: a busy one is no fault.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // What tests wait for comes at once, but not on a machine that is busy with something else.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    reporters: ['default', 'test/support/coverage-reporter.ts', 'test/support/slowest-files.ts', 'test/support/closing-line.ts'],
  },
});
