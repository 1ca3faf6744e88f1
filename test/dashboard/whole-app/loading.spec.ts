// Opens each view of the web app in a real browser while the answers to its requests are held back, and looks whether
// anything moves when they arrive.
import type { Page, Route } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { describeFilledDashboard, REQUESTS, showsContent, VIEWS } from '../content.js';

/** The score over the life of a page. Up to 0.1 is called good by web.dev. */
const MOST_SHIFT = 0.05;

const WATCH_SHIFTS = `
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    window.shifts.push({ value, moved: sources.map(({ node }) => (node?.outerHTML ?? node?.textContent ?? '').slice(0, 120)) });
}).observe({ type: 'layout-shift', buffered: true });`;

interface Shift {
  value: number;
  moved: string[];
}

describeFilledDashboard('a view that loads', (dashboard) => {
  it.each(VIEWS)('shows that it loads, and moves nothing when its content comes: $name', async (view) => {
    const { page } = await dashboard.open();
    await page.addInitScript(WATCH_SHIFTS);
    const held: Route[] = [];
    let isHeld = true;
    await page.route(REQUESTS, (route) => (isHeld ? void held.push(route) : route.continue()));
    await page.goto(`${dashboard.app.url}/dashboard${view.path(dashboard.content)}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (view.name !== 'the changelog') await page.locator('main [data-loading]').first().waitFor();
    const before = await places(page);
    isHeld = false;
    await Promise.all(held.map((route) => route.continue()));
    await showsContent(page, view);
    await eventually('nothing loads', async () => (await page.locator('[data-loading]').count()) === 0);

    const after = await places(page);
    for (const [name, place] of Object.entries(before)) expect([name, after[name]]).toEqual([name, place]);
    const shifts = await page.evaluate<Shift[]>('window.shifts');
    const total = shifts.reduce((sum, { value }) => sum + value, 0);
    if (total > MOST_SHIFT) expect(shifts).toEqual([]);
  });
});

/** The places in px of what is there from the beginning: the title, the parts with a name, and their headings. */
const places = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(`Object.fromEntries(
    [...document.querySelectorAll('main :is(h1, h2, [role=search], [role=region], section, aside)')].map((element) => {
      const { left, top } = element.getBoundingClientRect();
      const heading = /^H[12]$/.test(element.tagName) ? element : element.querySelector('h2');
      const name = element.getAttribute('aria-label') ?? (element.tagName === 'H1' ? '' : heading?.textContent);
      return [element.tagName + ' ' + name, Math.round(left) + ',' + Math.round(top)];
    }),
  )`);
