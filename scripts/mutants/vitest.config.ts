/** Runs the suite for `npm run test:mutants`: the files of TEST_ORDER in that order, one at a time, until the first failure. */
import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import suite from '../../vitest.config.ts';

const order = (process.env['TEST_ORDER'] ?? '').split(',');
const place = ({ moduleId }: TestSpecification) => order.findIndex((file) => moduleId.endsWith(`/${file}`));

class GivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => place(one) - place(other));
  }
}

export default mergeConfig(
  suite,
  defineConfig({
    cacheDir: '.vitest',
    test: {
      maxWorkers: 1,
      // The probes slow down code with many function calls.
      testTimeout: process.env['REACH_FILE'] ? 180_000 : 60_000,
      sequence: { sequencer: GivenOrder },
      setupFiles: process.env['REACH_FILE'] ? ['scripts/mutants/name-test-file.ts'] : [],
    },
  }),
);
