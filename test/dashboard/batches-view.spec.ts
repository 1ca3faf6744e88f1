// Opens the web app of the application in a real browser.
import type { Browser } from 'playwright-core';

import type { TestApp } from '../support/app.js';
import { browserMissing, startBrowser } from '../support/browser.js';
import { accessibilityFaults, LOOKS, openPage, scrollsSideways, startDashboard } from '../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  divider:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: '{"n": 12 / int(payload.n)}' }
`;

const whereBrowserIs = browserMissing ? describe.skip : describe;

whereBrowserIs('the views Batches and Batch', () => {
  let app: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    app = await startDashboard({ config: CONFIG });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  /** Starts a batch whose third item fails. */
  const start = async (): Promise<string> => {
    const { body } = await app.http
      .post('/run/batch')
      .send({ agent_name: 'divider', batch_inputs: [{ n: 1 }, { n: 2 }, { n: 0 }] })
      .expect(200);
    return (body as { batch_id: string }).batch_id;
  };

  it('says what to do if there is nothing, and then follows a batch as it runs', async () => {
    const { page, context, complaints } = await openPage(browser);
    await page.goto(`${app.url}/dashboard/batches`);
    await page.getByText('There is no batch yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await start();
    await page.getByRole('row').filter({ hasText: 'divider' }).filter({ hasText: 'completed' }).waitFor();
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.waitForURL('**/batches/*');
    await page.getByRole('heading', { name: 'Results' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows results by state in the URL, retries the failed ones after a question, and downloads all', async () => {
    const { page, context } = await openPage(browser);
    const id = await start();
    await page.goto(`${app.url}/dashboard/batches/${id}`);
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 item' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Retry failed' }).waitFor();
    await page.getByText('3 of 3 items').waitFor();
    await page.getByRole('combobox', { name: 'Shown' }).selectOption('failed');
    await page.waitForURL('**/batches/*?results=failed');
    await page.getByRole('row').filter({ hasText: 'completed' }).first().waitFor({ state: 'detached' });
    expect(await page.getByRole('row').count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download results' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${id}.ndjson`);
    await context.close();
  });

  it("shows the server's answer if the batch is missing", async () => {
    const { page, context } = await openPage(browser);
    await page.goto(`${app.url}/dashboard/batches/missing`);
    await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
    await context.close();
  });

  it.each(LOOKS)('are accessible: $colorScheme, $width px', async (look) => {
    const { page, context } = await openPage(browser, look);
    const id = await start();
    for (const path of ['/batches', `/batches/${id}`]) {
      await page.goto(`${app.url}/dashboard${path}`);
      await page.getByRole('row').nth(1).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
    }
    await context.close();
  });
});
