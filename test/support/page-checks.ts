import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

import { startApp, type TestApp, type TestAppOptions } from './app.js';
import { describeInBrowser, startBrowser } from './browser.js';
import { builtDashboard } from './built-program.js';
import { eventually } from './eventually.js';

/** As long as `eventually` waits. Playwright's own 30 s are too short for a busy machine. */
const WITHIN_MS = 90_000;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const WIDE = { colorScheme: 'light', width: 1_280 } as const;
/** 320 px is also 1,280 px at 400 % zoom. */
const NARROW = { colorScheme: 'dark', width: 320 } as const;

/** The widths and the themes that every view is checked in. `STARLING_LOOKS=2` has each once, and not each with each. */
export const LOOKS =
  process.env.STARLING_LOOKS === '2'
    ? [WIDE, NARROW]
    : [WIDE, { ...WIDE, colorScheme: 'dark' as const }, { ...NARROW, colorScheme: 'light' as const }, NARROW];

/** Starts the application with the web app in its present form. */
export async function startDashboard(options: TestAppOptions = {}): Promise<TestApp> {
  await builtDashboard();
  return startApp({ ...options, settings: { dashboard: true, ...options.settings } });
}

type Look = Pick<BrowserContextOptions, 'colorScheme' | 'deviceScaleFactor'> & { width: number; height?: number };

/** Opens a tab in a new browser context, which shares no live connection with others. It is closed after the test. */
export type OpenPage = (look?: Look) => Promise<OpenedPage>;

/** Declares tests of pages in a real browser. */
export function describePages(name: string, tests: (open: OpenPage) => void): void {
  describeInBrowser(name, () => {
    let browser: Browser;

    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterEach(() => Promise.all(browser.contexts().map(closeContext)));
    afterAll(() => browser.close());

    tests((look) => openPage(browser, look));
  });
}

/** The application with the web app, and a browser for it. */
export interface OpenDashboard {
  app: TestApp;
  open: OpenPage;
}

/**
 * Declares tests of the web app in a real browser. The fields of `dashboard` are set while they run. `options` is a
 * function if the configuration names a server that has to be started first.
 */
export function describeDashboard(
  name: string,
  options: TestAppOptions | (() => Promise<TestAppOptions>),
  tests: (dashboard: OpenDashboard) => void,
): void {
  describePages(name, (open) => {
    const dashboard = { open } as OpenDashboard;

    beforeAll(async () => {
      dashboard.app = await startDashboard(typeof options === 'function' ? await options() : options);
    });
    afterAll(() => dashboard.app.close());

    tests(dashboard);
  });
}

export interface OpenedPage {
  page: Page;
  /** Errors in the browser's console, such as refusals by the content security policy, and uncaught ones. */
  complaints: string[];
}

/** Closes its pages. A request that a handler of the test is answering just then does not fail. */
async function closeContext(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await context.close();
}

async function openPage(browser: Browser, { width, height = 800, ...look }: Look = WIDE): Promise<OpenedPage> {
  return openTab(await browser.newContext({ ...look, viewport: { width, height }, reducedMotion: 'reduce' }));
}

/** Opens one more tab of the same browser context. */
export async function openTab(context: BrowserContext): Promise<OpenedPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(WITHIN_MS);
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

/**
 * Clicks "Try again" in the messages until none is left. The beginning of the live connection asks again as well, so a
 * message may be gone before it is clicked.
 */
export async function askAgain(messages: Locator): Promise<void> {
  const buttons = messages.getByRole('button', { name: 'Try again' });
  await eventually('it has asked for everything again', async () => {
    await buttons.evaluateAll((all) => (all as unknown as { click(): void }[]).forEach((button) => button.click()));
    return (await messages.count()) === 0;
  });
}
