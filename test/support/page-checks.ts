import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Browser, Page } from 'playwright-core';

import { startApp, type TestApp, type TestAppOptions } from './app.js';
import { describeInBrowser, startBrowser } from './browser.js';
import { builtDashboard } from './built-program.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The widths and the themes that every view is checked in. 320 px is also 1,280 px at 400 % zoom. */
export const LOOKS = [
  { colorScheme: 'light', width: 1_280 },
  { colorScheme: 'dark', width: 1_280 },
  { colorScheme: 'light', width: 320 },
  { colorScheme: 'dark', width: 320 },
] as const;

/** Starts the application with the web app in its present form. */
export async function startDashboard(options: TestAppOptions = {}): Promise<TestApp> {
  await builtDashboard();
  return startApp({ ...options, settings: { dashboard: true, ...options.settings } });
}

/** The application with the web app, and a browser for it. */
export interface OpenDashboard {
  app: TestApp;
  /** Opens a tab in a new browser context, which shares no live connection with others. It is closed after the test. */
  open(look?: (typeof LOOKS)[number]): Promise<OpenedPage>;
}

/** Declares tests of the web app in a real browser. The fields of `dashboard` are set while they run. */
export function describeDashboard(
  name: string,
  options: TestAppOptions,
  tests: (dashboard: OpenDashboard) => void,
): void {
  describeInBrowser(name, () => {
    const dashboard = {} as OpenDashboard;
    let browser: Browser;

    beforeAll(async () => {
      dashboard.app = await startDashboard(options);
      browser = await startBrowser();
      dashboard.open = (look) => openPage(browser, look);
    });
    afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
    afterAll(async () => {
      await browser.close();
      await dashboard.app.close();
    });

    tests(dashboard);
  });
}

export interface OpenedPage {
  page: Page;
  /** Errors in the browser's console, such as refusals by the content security policy, and uncaught ones. */
  complaints: string[];
}

async function openPage(browser: Browser, look: (typeof LOOKS)[number] = LOOKS[0]): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: 800 },
    colorScheme: look.colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  return { page, complaints };
}

/** Returns what axe-core finds against WCAG 2.2 AA, one line for each element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // By the debugger, because the policy of the page allows no other scripts.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResults> } };
    const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
    );
  });
}

interface AxeResults {
  violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** Returns true if the page as a whole scrolls sideways, which WCAG's "Reflow" forbids at 320 px. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(`[document.scrollingElement, document.querySelector('main')]
    .some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`);
