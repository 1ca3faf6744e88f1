// Opens the web app of the application in a real browser.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';

import { Outside } from '../../e2e/outside.js';
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  divider:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: '{"n": 12 / int(payload.n)}' }
    retry: { attempts: 1 }
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
  reader:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Read }]
    engine: { kind: expression, expression: '{"size": payload.text.contains("card") ? 1 / 0 : 2}' }
    retry: { attempts: 1 }
`;

/** The test messages of BANKING77. */
const BANKING77 = new URL('../../../examples/support-desk/banking77/test.csv', import.meta.url).pathname;

describeDashboard('the views Batches and Batch', { config: CONFIG }, (dashboard) => {
  /** Starts a batch; of `divider`, the third item fails. */
  const start = async (agent = 'divider'): Promise<string> => {
    const { body } = await dashboard.app.http
      .post('/run/batch')
      .send({ agent_name: agent, batch_inputs: [{ n: 1 }, { n: 2 }, { n: 0 }] })
      .expect(200);
    return (body as { batch_id: string }).batch_id;
  };

  const open = (page: Page, id: string): Promise<unknown> => page.goto(`${dashboard.app.url}/dashboard/batches/${id}`);

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

  it('shows results by state in the URL, and retries the failed ones after a question', async () => {
    const { page } = await dashboard.open();
    await open(page, await start());
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 item' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Retry failed' }).waitFor();
    await page.getByText('3 of 3 items').waitFor();
    await page.getByRole('combobox', { name: 'Shown' }).selectOption('failed');
    await page.waitForURL('**/batches/*?results=failed');
    const results = page.getByRole('table', { name: 'Results' });
    await results.getByRole('row').filter({ hasText: 'completed' }).first().waitFor({ state: 'detached' });
    // With the row of titles. While the item runs again, none has failed.
    await eventually('the failed item is shown', async () => (await results.getByRole('row').count()) === 2);
  });

  it('shows how fast items end, says how many a cancel concerns, and cancels them', async () => {
    const { page } = await dashboard.open();
    const id = await start('approver');
    await open(page, id);
    await page.getByText('0 of 3 items').waitFor();
    const outside = new Outside(dashboard.app.http);
    const [held] = await outside.claim({ agents: ['approver'], wait: 10 });
    await outside.send(held!, 'complete', { output: {} });
    await page.getByText('1 of 3 items').waitFor();
    await page.getByText(/^\d[\d.,]* items per (second|minute), about .+ left$/).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByText('2 items will not run').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel 2 items' }).click();
    await page.getByText('cancelled').first().waitFor();
    const { body } = await dashboard.app.http.get(`/batch/${id}`).expect(200);
    expect(body).toMatchObject({ status: 'cancelled', completed_items: 1 });
  });

  it('groups the failures of 3,080 rows with an example of each, and downloads all results', async () => {
    const rows = parse(readFileSync(BANKING77), { columns: true }) as { text: string }[];
    const failed = rows.filter(({ text }) => text.includes('card')).length.toLocaleString('en-US');
    const { body } = await dashboard.app.http
      .post('/run/batch')
      .attach('file', BANKING77)
      .field('request', JSON.stringify({ agent_name: 'reader', max_workers: 100 }))
      .expect(200);
    const id = (body as { batch_id: string }).batch_id;
    const { page, complaints } = await dashboard.open();
    await open(page, id);
    await page.getByText('3,080 of 3,080 items').waitFor({ timeout: 240_000 });
    await page.getByText(`${failed} failed`).waitFor();
    const reasons = page.getByRole('region', { name: 'Why items failed' });
    await reasons.getByRole('row').filter({ hasText: failed }).filter({ hasText: 'reader failed: ' }).waitFor();
    expect(await reasons.getByRole('link', { name: 'row 0' }).getAttribute('href')).toContain('/correlations/');
    for (const [text, file] of [
      ['CSV', `${id}.csv`],
      ['JSON lines', `${id}.ndjson`],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: `Download results as ${text}` }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(file);
      const content = await readFile(await download.path(), 'utf8');
      const lines = text === 'CSV' ? (parse(content, { columns: true }) as object[]) : content.trim().split('\n');
      expect(lines.length).toBe(3_080);
    }
    expect(complaints).toEqual([]);
  });

  it("shows the server's answer if the batch is missing", async () => {
    const { page } = await dashboard.open();
    await open(page, 'missing');
    await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
  });

  it.each(LOOKS)('are accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    const id = await start();
    await page.goto(`${dashboard.app.url}/dashboard/batches`);
    await page.getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await open(page, id);
    await page.getByRole('region', { name: 'Why items failed' }).getByRole('link', { name: 'row 2' }).waitFor();
    await page.getByRole('table', { name: 'Results' }).getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
