import type { Browser, Page } from 'playwright-core';

/** Matches each row of a list, both in the dashboard and in the page of React alone. */
const ROW = '[data-index]';

const VIEWPORT = { width: 1_280, height: 800 };

/** Opens a page without a cache, and returns the ms from the request until its first rows are painted. */
export async function coldLoad(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(noteFirstRows, ROW);
  await page.goto(url);
  const milliseconds = await firstRows(page);
  await context.close();
  return milliseconds;
}

/** Follows a link of an open page, and returns the ms until the first rows of the next view are painted. */
export async function nextView(page: Page, link: string): Promise<number> {
  await page.evaluate(noteFirstRowsAfterClick, { link, row: ROW });
  return firstRows(page);
}

/** Scrolls a list through by wheel for some seconds, and returns the durations of the frames (ms), ascending. */
export async function scrollFrames(page: Page, seconds: number): Promise<number[]> {
  await page.evaluate(noteFrames);
  const box = (await page.locator(ROW).first().boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 100);
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) await page.mouse.wheel(0, 400);
  const frames = await page.evaluate(() => (globalThis as unknown as { frames: number[] }).frames);
  return frames.toSorted((one, other) => one - other);
}

export const openTab = async (browser: Browser, url: string): Promise<Page> => {
  const page = await browser.newPage({ viewport: VIEWPORT });
  await page.goto(url);
  await page.locator(ROW).first().waitFor();
  return page;
};

async function firstRows(page: Page): Promise<number> {
  const handle = await page.waitForFunction(() => (globalThis as unknown as { firstRows?: number }).firstRows);
  return (await handle.jsonValue())!;
}

// The following functions run in the page. A frame after the one that finds the rows, they have been painted.

function noteFirstRows(row: string): void {
  const look = (): void => {
    if (document.querySelector(row) === null) return void requestAnimationFrame(look);
    requestAnimationFrame(() => Object.assign(globalThis, { firstRows: performance.now() }));
  };
  look();
}

function noteFirstRowsAfterClick({ link, row }: { link: string; row: string }): void {
  const before = performance.now();
  const old = document.querySelector(row);
  document.querySelector<HTMLElement>(link)!.click();
  const look = (): void => {
    const found = document.querySelector(row);
    if (found === null || found === old) return void requestAnimationFrame(look);
    requestAnimationFrame(() => Object.assign(globalThis, { firstRows: performance.now() - before }));
  };
  requestAnimationFrame(look);
}

function noteFrames(): void {
  const frames: number[] = [];
  Object.assign(globalThis, { frames });
  let last = performance.now();
  const next = (): void => {
    const now = performance.now();
    frames.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
