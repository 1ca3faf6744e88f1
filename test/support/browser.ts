import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

import { describeIf } from './prerequisites.ts';

const EXECUTABLE = '/usr/bin/chromium-headless-shell';

/** Declares tests of pages, which need Chromium. */
export const describeInBrowser = (name: string, tests: () => void): void =>
  describeIf(existsSync(EXECUTABLE), `Chromium at ${EXECUTABLE} (apt-get install -y chromium-headless-shell)`)(
    name,
    tests,
  );

/**
 * Starts Debian's Chromium without its background requests. Its headless shell loads a page in half of the time that the
 * whole browser needs.
 */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    // Without it, Chromium cannot open files whose names have other characters than ASCII.
    env: { ...process.env, LANG: 'C.UTF-8' },
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
