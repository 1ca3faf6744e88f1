import { type Browser, chromium, type Page } from 'playwright-core';

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', '--disable-gpu'] });

/** Opens a view and waits until it shows what it has asked for. `path` is one below `/dashboard`. */
export async function showView(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}/dashboard${path}`);
  // The live connection keeps the network busy, so the view is ready when it says so.
  await page.locator('main h1').waitFor();
  await page.locator('main [data-loading]').first().waitFor({ state: 'detached' });
}
