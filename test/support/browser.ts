/** Debian's Chromium for tests that need a real browser. Without it, plain `npm test` skips these tests and prints the reason. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { afterAll, onTestFinished, type TestContext } from 'vitest';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** The first two are for containers; the others stop the browser's own requests to its vendor. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts one Chromium for the tests of a file. The returned function opens an empty profile, which is closed when the test is over. Without
 * Chromium it skips the test, or fails it if BROWSER_REQUIRED is set. `own` are further arguments of Chromium, and options of its profiles.
 */
export function useBrowser(
  own: { args?: string[]; profile?: BrowserContextOptions } = {},
): (context: TestContext) => Promise<BrowserContext> {
  let launched: Promise<Browser> | undefined;
  afterAll(async () => (await launched)?.close());
  return async ({ skip }) => {
    if (!existsSync(executablePath)) {
      const reason = `no Chromium at ${executablePath}: run "apt-get install chromium", or set CHROMIUM to its path`;
      if (process.env['BROWSER_REQUIRED']) throw new Error(reason);
      skip(reason);
    }
    launched ??= chromium.launch({ executablePath, args: [...args, ...(own.args ?? [])] });
    const profile = await (await launched).newContext({ viewport: { width: 1200, height: 900 }, ...own.profile });
    onTestFinished(() => profile.close());
    return profile;
  };
}
