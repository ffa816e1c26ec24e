/** Debian's Chromium for tests that need a person's browser. Plain `npm test` goes without where there is none, and says so. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright-core';
import { onTestFinished, type TestContext } from 'vitest';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/**
 * A browser with an empty profile, closed when the test is over. Skips the test when there is no Chromium, unless BROWSER_REQUIRED is set:
 * then it fails.
 */
export async function openBrowser({ skip }: TestContext): Promise<BrowserContext> {
  if (!existsSync(executablePath)) {
    const reason = `no Chromium at ${executablePath}: "apt-get install chromium" brings it, or set CHROMIUM to one`;
    if (process.env['BROWSER_REQUIRED']) throw new Error(reason);
    skip(reason);
  }
  const profile = await mkdtemp(join(tmpdir(), 'entity-service-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    viewport: { width: 1200, height: 900 },
    // The first two for containers; the others keep the browser from calling home.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  onTestFinished(async () => {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
  });
  return browser;
}
