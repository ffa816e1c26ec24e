/** How `npm run test:long` runs: as the suite, with the files that the suite leaves out because they take long. */
import { configDefaults, defineConfig } from 'vitest/config';
import suite from './vitest.config.ts';

export default defineConfig({
  test: {
    ...suite.test,
    include: ['test/**/*.long.test.ts'],
    exclude: configDefaults.exclude,
    // The suite alone must get every declared answer.
    reporters: ['default', 'test/support/closing-line.ts'],
  },
});
