import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';

/** Why page tests cannot run here; null if they can. */
export const browserMissing: string | null = existsSync(EXECUTABLE)
  ? null
  : `Chromium is missing at ${EXECUTABLE}: apt-get install -y chromium`;

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
