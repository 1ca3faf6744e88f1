// Opens the web app of the application in a real browser.
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  divider:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: '{"n": 12 / int(payload.n)}' }
`;

describeDashboard('the views Batches and Batch', { config: CONFIG }, (dashboard) => {
  /** Starts a batch whose third item fails. */
  const start = async (): Promise<string> => {
    const { body } = await dashboard.app.http
      .post('/run/batch')
      .send({ agent_name: 'divider', batch_inputs: [{ n: 1 }, { n: 2 }, { n: 0 }] })
      .expect(200);
    return (body as { batch_id: string }).batch_id;
  };

  it('says what to do if there is nothing, and then follows a batch as it runs', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/batches`);
    await page.getByText('No batch has been started yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await start();
    await page.getByRole('row').filter({ hasText: 'divider' }).filter({ hasText: 'completed' }).waitFor();
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.waitForURL('**/batches/*');
    await page.getByRole('heading', { name: 'Results' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows results by state in the URL, retries the failed ones after a question, and downloads all', async () => {
    const { page } = await dashboard.open();
    const id = await start();
    await page.goto(`${dashboard.app.url}/dashboard/batches/${id}`);
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
  });

  it("shows the server's answer if the batch is missing", async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/batches/missing`);
    await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
  });

  it.each(LOOKS)('are accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    const id = await start();
    for (const path of ['/batches', `/batches/${id}`]) {
      await page.goto(`${dashboard.app.url}/dashboard${path}`);
      await page.getByRole('row').nth(1).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
    }
  });
});
