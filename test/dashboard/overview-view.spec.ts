// Opens the web app of the application in a real browser.
import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../support/page-checks.js';

const CONFIG = `
agents:
  broken:
    consumes: [{ types: [Order] }]
    engine: { kind: function, module: ./broken.ts }
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

const FILES = { 'broken.ts': `export default () => { throw new Error('the printer is on fire'); };` };

describeDashboard('the overview', { config: CONFIG, files: FILES }, (dashboard) => {
  const publish = (): Promise<unknown> =>
    dashboard.app.http.post('/api/v1/artifacts').send({ type: 'Order', payload: {} }).expect(200);

  const countOf = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title });

  it('says what waits, what failed, who is paused, and which processes live', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByText('The service and its database are up').waitFor();
    await page.getByText('No execution has failed.').waitFor();
    await countOf(page, 'For people').getByText('0', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Processes' }).getByText('server and worker').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();

    await publish();
    const failures = page.getByRole('region', { name: 'Newest failures' });
    await failures.getByText('the printer is on fire').waitFor();
    await countOf(page, 'For people').getByText('1', { exact: true }).waitFor();
    const activity = page.getByRole('region', { name: 'Agents' }).getByRole('row').filter({ hasText: 'broken' });
    await activity.getByText('1 (100 %)').waitFor();
    await page.getByRole('button', { name: '24h' }).click();
    await page.waitForURL(/window=24h/);
    await dashboard.app.http.post('/api/v1/agents/broken/pause').expect(200);
    await page.reload();
    await page.getByText('1 agent paused:').waitFor();

    await failures.getByRole('link', { name: 'broken' }).click();
    await page.getByRole('complementary', { name: 'Selection' }).getByText('the printer is on fire').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    await publish();
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByRole('region', { name: 'Newest failures' }).getByRole('listitem').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
