import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

/**
 * Declares tests of pages. They are skipped if Chromium is not installed, so that the other tests can run on a machine
 * without it; a warning says how to install it, as `.ci/run` does.
 */
export function describeInBrowser(name: string, tests: () => void): void {
  if (existsSync(EXECUTABLE)) return describe(name, tests);
  console.warn(`skipped: Chromium is missing at ${EXECUTABLE}: apt-get install -y chromium`);
  describe.skip(name, tests);
}

/** Starts Debian's Chromium, headless, without its background requests. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
