/**
 * Takes a picture of each given view of a running service: `node dashboard/screenshots.ts <url of the service> <folder> <path>...`. A path
 * is one below `/dashboard`. Each view is taken in both themes, 1,280 and 320 pixels wide.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { showView, startBrowser } from './shown-view.ts';

const [url, folder, ...paths] = process.argv.slice(2);
if (url === undefined || folder === undefined || paths.length === 0)
  throw new Error('give the URL of a service, a folder, and paths such as /artifacts');

const SIZES = [
  { width: 1_280, height: 800 },
  { width: 320, height: 640 },
];

mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
for (const colorScheme of ['light', 'dark'] as const) {
  for (const viewport of SIZES) {
    const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
    page.on('console', (message) => message.type() === 'error' && console.error(message.text()));
    for (const path of paths) {
      await showView(page, url, path);
      const name = path.replace(/^\//, '').replaceAll(/[^\w-]+/g, '-') || 'overview';
      const file = join(folder, `${name}-${colorScheme}-${viewport.width}.png`);
      await page.screenshot({ path: file });
      console.log(file);
    }
    await page.close();
  }
}
await browser.close();
