// Opens the web app of the application in a real browser at several widths, and measures its frame and its rows.
import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { describeDashboard } from '../../support/page-checks.js';

const CONFIG = 'types: { Order: { schema: { type: object, properties: { n: { type: integer } } } } }';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

describeDashboard('the layout of the web app', { config: CONFIG }, (dashboard) => {
  beforeAll(async () => {
    for (const n of [1, 2])
      await dashboard.app.http.post('/api/v1/artifacts').send({ type: 'Order', payload: { n } }).expect(200);
  });

  const open = async (width: number, path = '/artifacts'): Promise<Page> => {
    const { page } = await dashboard.open({ width });
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  };

  const boxOf = async (page: Page, selector: string): Promise<Box> =>
    (await page.locator(selector).first().boundingBox())!;

  const rail = (page: Page): Promise<Box> => boxOf(page, 'nav[aria-label=Views]');

  const hasWords = async (page: Page): Promise<boolean> =>
    ((await page.locator('nav[aria-label=Views] a span').first().boundingBox())?.width ?? 0) > 1;

  it('has a rail of 224 px with words, icons under 1,024 px, and a bar at the bottom under 640 px', async () => {
    const page = await open(1_280);
    expect(await rail(page)).toMatchObject({ x: 0, y: 0, width: 224, height: 800 });
    expect(await hasWords(page)).toBe(true);

    await page.setViewportSize({ width: 1_023, height: 800 });
    expect(await rail(page)).toMatchObject({ x: 0, y: 0, width: 56, height: 800 });
    expect(await hasWords(page)).toBe(false);
    expect(await page.getByRole('link', { name: 'Artifacts' }).isVisible()).toBe(true);

    await page.setViewportSize({ width: 639, height: 800 });
    const bar = await rail(page);
    expect([bar.x, bar.width, bar.y + bar.height]).toEqual([0, 639, 800]);
    expect(await hasWords(page)).toBe(true);
  });

  it('has a header of 48 px, also on a telephone', async () => {
    const page = await open(1_280);
    expect((await boxOf(page, 'header')).height).toBe(48);
    await page.setViewportSize({ width: 320, height: 568 });
    expect((await boxOf(page, 'header')).height).toBe(48);
  });

  it('has rows of 36 px, and of 28 px after a switch that the browser keeps', async () => {
    const page = await open(1_280);
    const row = '[role=row][data-index]';
    await page.locator(row).first().waitFor();
    const rows = async (): Promise<number[]> => {
      const [first, second] = await Promise.all([0, 1].map((at) => page.locator(row).nth(at).boundingBox()));
      return [first!.height, second!.y - first!.y];
    };
    const change = async (to: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'View, agent, type or id' }).fill('rows of lists');
      await page.getByRole('option', { name: to }).click();
    };
    expect(await rows()).toEqual([36, 36]);
    await change('Make rows of lists dense');
    await eventually('rows are dense', async () => (await rows()).join() === '28,28');
    await page.reload();
    await page.locator(row).nth(1).waitFor();
    expect(await rows()).toEqual([28, 28]);
    await change('Make rows of lists higher');
    await eventually('rows are higher', async () => (await rows()).join() === '36,36');
  });

  it('gives lists the whole width, and forms at most 880 px', async () => {
    const page = await open(2_400);
    const content = 2_400 - 224;
    expect((await boxOf(page, 'main')).width).toBe(content);
    await page.goto(`${dashboard.app.url}/dashboard/executions`);
    await page.getByText('No agent has run yet').waitFor();
    expect((await boxOf(page, '[role=region][aria-label=Executions]')).width).toBe(content - 48);
    await page.goto(`${dashboard.app.url}/dashboard/publish`);
    await page.locator('form').waitFor();
    expect((await boxOf(page, 'form')).width).toBeLessThanOrEqual(880);
  });

  it('changes its theme by a button, and keeps it over a reload', async () => {
    const page = await open(1_280);
    const background = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    const button = page.getByRole('button', { name: 'change it' });
    await button.click();
    expect(await background()).toBe(light);
    await button.click();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Dark theme; change it' }).waitFor();
    expect(await background()).toBe(dark);
  });

  it('says to screen readers one text every 5 s at most, and the newest of several', async () => {
    const { page } = await dashboard.open();
    await page.addInitScript(RECORD_STATUS);
    await page.clock.install();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${dashboard.app.url}/dashboard/publish?wait=no&as=json`);
    const said = (): Promise<Said[]> => page.evaluate('window.said');
    const copy = page.getByRole('button', { name: 'Copy as curl' }).first();
    await copy.click();
    await eventually('it has said "Copied"', async () => (await said()).length === 1);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('region', { name: 'What came of it' }).waitFor();
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByText('No agent is configured').waitFor();
    await page.clock.fastForward(5_000);
    await eventually('it has said "Published"', async () => (await said()).length === 2);
    const [first, second] = (await said()) as [Said, Said];
    expect([first.text, second.text]).toEqual(['Copied', 'Published']);
    expect(second.at - first.at).toBeGreaterThanOrEqual(5_000);
    expect(await page.locator('[aria-live], [role=status], [role=log]').count()).toBe(1);
  });
});

interface Said {
  text: string;
  at: number;
}

/** Records each text that the live region gets. */
const RECORD_STATUS = `
window.said = [];
new MutationObserver(() => {
  const text = document.querySelector('[role=status]')?.textContent ?? '';
  if (text !== (window.said.at(-1)?.text ?? '')) window.said.push({ text, at: Date.now() });
}).observe(document, { subtree: true, childList: true, characterData: true });`;
