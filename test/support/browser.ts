/** Debian's Chromium for tests that need a person's browser. Plain `npm test` goes without where there is none, and says so. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { afterAll, onTestFinished, type TestContext } from 'vitest';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** The first two for containers; the others keep the browser from calling home. */
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
 * One Chromium for the tests of a file. The returned function opens a profile with nothing in it, closed when the test is over. It skips the
 * test when there is no Chromium, unless BROWSER_REQUIRED is set: then it fails.
 */
export function useBrowser(): (context: TestContext) => Promise<BrowserContext> {
  let launched: Promise<Browser> | undefined;
  afterAll(async () => (await launched)?.close());
  return async ({ skip }) => {
    if (!existsSync(executablePath)) {
      const reason = `no Chromium at ${executablePath}: "apt-get install chromium" brings it, or set CHROMIUM to one`;
      if (process.env['BROWSER_REQUIRED']) throw new Error(reason);
      skip(reason);
    }
    launched ??= chromium.launch({ executablePath, args });
    const profile = await (await launched).newContext({ viewport: { width: 1200, height: 900 } });
    onTestFinished(() => profile.close());
    return profile;
  };
}
