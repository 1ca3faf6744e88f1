// Opens the web app of the application in a real browser, with examples/approvals, and uses only the keyboard.
import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { describeDashboard } from '../../support/page-checks.js';

const MOST_TABS = 100;

describeDashboard(
  'the web app by keyboard alone',
  { configFile: join(import.meta.dirname, '../../../examples/approvals/starling.yaml') },
  (dashboard) => {
    it('publishes, finds the correlation, claims and completes an approval, and shows where the focus is', async () => {
      const { page, complaints } = await dashboard.open();
      const { keyboard } = page;
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(`${dashboard.app.url}/dashboard`);
      await page.getByText('Live', { exact: true }).waitFor();
      await tabTo(page, page.getByRole('link', { name: 'Skip to the content' }));
      await keyboard.press('Enter');
      await page.locator('main:focus').waitFor();

      await jump(page, 'publish', 'Publish');
      await page.locator('main:focus').waitFor();
      await tabTo(page, page.getByRole('combobox', { name: 'Type', exact: true }));
      await keyboard.type('Reading');
      await tabTo(page, page.getByRole('combobox', { name: 'Answer', exact: true }));
      await keyboard.type('do not');
      await tabTo(page, page.getByRole('group', { name: 'Payload' }).locator('input').first());
      await keyboard.press('Control+a');
      await keyboard.type('220.5');
      await tabTo(page, page.getByRole('button', { name: 'Publish', exact: true }));
      await keyboard.press('Enter');

      const outcome = page.getByRole('region', { name: 'What came of it' });
      await tabTo(page, outcome.getByRole('link').first());
      await keyboard.press('Enter');
      await page.waitForURL('**/correlations/*');
      const id = new URL(page.url()).pathname.split('/').at(-1)!;
      await page.getByRole('region', { name: 'Waits for' }).getByText('which anna has to claim').waitFor();
      await tabTo(page, page.getByRole('button', { name: /approver/ }));
      await keyboard.press('Enter');
      await page.getByRole('complementary', { name: 'Selection' }).getByText('anna').waitFor();
      await tabTo(page, page.getByRole('button', { name: 'Copy correlation id' }).first());
      await keyboard.press('Enter');
      await page.getByText('Copied').waitFor({ state: 'attached' });

      await jump(page, 'inbox', 'Inbox');
      await tabTo(page, page.getByRole('row').getByRole('button', { name: 'approver' }));
      await keyboard.press('Enter');
      const panel = page.getByRole('complementary', { name: 'Task' });
      await tabTo(page, panel.getByRole('button', { name: 'Claim' }));
      await keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
      await keyboard.type('Ada');
      await keyboard.press('Enter');
      // The button that had the focus is gone.
      await panel.locator(':focus').waitFor();
      await tabTo(page, panel.getByRole('radio', { name: 'Yes' }));
      await keyboard.press('Space');
      await tabTo(page, panel.getByRole('textbox', { name: /Why/ }));
      await keyboard.type('ordered in May');
      await tabTo(page, panel.getByRole('button', { name: 'Complete' }));
      await keyboard.press('Enter');
      await page.getByText('Nothing waits for you').waitFor();

      await keyboard.press('Control+k');
      await keyboard.press('Control+v');
      await page.getByRole('option', { name: 'Correlation', selected: true }).waitFor();
      await keyboard.press('Enter');
      await page.waitForURL(`**/correlations/${id}`);
      await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
      const { body } = await dashboard.app.http.get(`/api/v1/artifacts?order=asc&correlation_id=${id}`).expect(200);
      expect((body as { items: { type: string }[] }).items.map(({ type }) => type)).toEqual([
        'Reading',
        'Approval',
        'Payment',
      ]);
      // The palette asked whether the pasted id is that of an artifact or of a batch, too.
      expect(complaints.filter((complaint) => !complaint.includes('404 (Not Found)'))).toEqual([]);
    });
  },
);

/** Opens a view through the palette, whose field shows its focus by the caret. */
async function jump(page: Page, text: string, title: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'View, agent, type or id' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type(text);
  await page.getByRole('option', { name: title, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

/** Presses Tab until this has the focus, which must be visible. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let count = 0; count < MOST_TABS; count += 1) {
    await page.keyboard.press('Tab');
    if ((await target.and(page.locator(':focus')).count()) === 0) continue;
    expect(await focusFault(page)).toBeUndefined();
    return;
  }
  throw new Error(`${MOST_TABS} times Tab do not reach ${String(target)}`);
}

/** Returns what is wrong if one cannot see which element has the focus: its outline must change the picture. */
async function focusFault(page: Page): Promise<string | undefined> {
  const focused = page.locator(':focus');
  const box = (await focused.boundingBox())!;
  const { width, height } = page.viewportSize()!;
  const left = Math.max(0, box.x - 6);
  const top = Math.max(0, box.y - 6);
  const clip = {
    x: left,
    y: top,
    width: Math.min(width, box.x + box.width + 6) - left,
    height: Math.min(height, box.y + box.height + 6) - top,
  };
  const name = await focused.evaluate((element) => (element as unknown as Shown).outerHTML.slice(0, 200));
  if (clip.width <= 0 || clip.height <= 0) return `out of sight: ${name}`;
  const shown = await page.screenshot({ clip });
  await focused.evaluate((element) => (element as unknown as Shown).style.setProperty('outline', 'none'));
  const without = await page.screenshot({ clip });
  await focused.evaluate((element) => (element as unknown as Shown).style.removeProperty('outline'));
  return shown.equals(without) ? `no visible focus: ${name}` : undefined;
}

interface Shown {
  outerHTML: string;
  style: { setProperty(name: string, value: string): void; removeProperty(name: string): void };
}
