/** How `npm run test:clients` runs. These files are not part of `npm test`, which does not install the tools. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/clients/*.proof.ts'],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
