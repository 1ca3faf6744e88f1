// Opens the web app of the application in a real browser.
import { readFile } from 'node:fs/promises';

import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Message:
    description: What a customer wrote.
    schema: { type: object, required: [text], properties: { text: { type: string }, channel: { type: string } } }
agents:
  router:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Routing }]
    engine: { kind: expression, expression: '{"text": payload.text, "keys": size(payload)}' }
`;

/** The test messages of BANKING77, 3,080 rows of which many are quoted. */
const BANKING77 = new URL('../../../examples/support-desk/banking77/test.csv', import.meta.url).pathname;

interface Batch {
  status: string;
  total_items: number;
  results: { result: object }[];
}

describeDashboard('the view Start a batch', { config: CONFIG }, (dashboard) => {
  const open = async (page: Page, query = ''): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard/batches/new${query}`);
    await page.getByRole('button', { name: 'Start the batch' }).waitFor();
  };

  const choose = (page: Page, content: string | Buffer, name = 'rows.csv'): Promise<void> =>
    page
      .getByLabel('CSV file with a header')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });

  /** Starts the batch and returns it, with its first results, when it has ended. */
  const start = async (page: Page): Promise<Batch> => {
    await page.getByRole('button', { name: 'Start the batch' }).click();
    await page.waitForURL(/batches\/[\da-f-]{36}$/);
    await page.getByText('completed').first().waitFor({ timeout: 240_000 });
    const { body } = await dashboard.app.http.get(`/batch/${page.url().split('/').at(-1)}?results_limit=1`).expect(200);
    return body as Batch;
  };

  it('uploads a file of 3,080 rows, with the columns that the schema has', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/batches`);
    await page.getByRole('link', { name: 'Start a batch' }).click();
    await choose(page, await readFile(BANKING77), 'test.csv');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('How do I locate my card?').waitFor();
    expect(await preview.getByRole('row').count()).toBe(6);
    expect(await preview.getByRole('columnheader').allInnerTexts()).toEqual([
      expect.stringMatching(/^text\s+becomes text$/),
      expect.stringMatching(/^category\s+not used$/),
    ]);
    const batch = await start(page);
    expect(batch).toMatchObject({ status: 'completed', total_items: 3_080 });
    expect(batch.results[0]!.result).toEqual({ text: 'How do I locate my card?', keys: 1 });
    await page.getByText('3,080 of 3,080 items').waitFor();
    expect(complaints).toEqual([]);
  });

  it('reads quoted cells, finds the delimiter, and gives a column another name', async () => {
    const { page } = await dashboard.open();
    await open(page);
    await choose(page, '\uFEFFbody;channel\r\n"first; ""quoted""\nline";mail\r\nsecond;web\r\n');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('first; "quoted"').waitFor();
    expect(await page.getByLabel('Delimiter').inputValue()).toBe(';');
    await page.getByText('No column becomes text, which the schema requires.').waitFor();
    await page.getByLabel('Input of column body').fill('text');
    await page.getByText('No column becomes text').waitFor({ state: 'detached' });
    const batch = await start(page);
    expect(batch.results[0]!.result).toEqual({ text: 'first; "quoted"\nline', keys: 2 });
  });

  it("shows the server's answer to a file with an error, and takes another file", async () => {
    const { page } = await dashboard.open();
    await open(page);
    await choose(page, 'text\none\ntwo,extra\n');
    await page.getByRole('button', { name: 'Start the batch' }).click();
    await page.getByRole('alert').filter({ hasText: 'line 3 has 2 fields and the header 1' }).waitFor();
    await choose(page, 'text\n"never closed\n');
    await page.getByRole('alert').filter({ hasText: 'cannot be shown: Quote Not Closed' }).waitFor();
    await choose(page, 'text\none\n');
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    expect(await start(page)).toMatchObject({ total_items: 1 });
  });

  it('starts a list, with the options in the URL and inputs of every run', async () => {
    const { page } = await dashboard.open();
    await open(page);
    await page.getByRole('combobox', { name: 'Inputs', exact: true }).selectOption('a JSON list');
    await page.waitForURL('**/batches/new?source=list');
    await page.getByLabel('List of inputs').fill('{"text": 1}');
    await page.getByText('Write a list of objects').waitFor();
    expect(await page.getByRole('button', { name: 'Start the batch' }).isDisabled()).toBe(true);
    await page.getByLabel('List of inputs').fill('[{"text": "a"}, {"text": "a"}, {"text": "b"}]');
    await page.getByText('3 items').waitFor();
    await page.getByText('Options').click();
    await page.getByLabel('Rows that run once').selectOption('one for each text');
    await page.getByRole('combobox', { name: 'Runs', exact: true }).selectOption('one at a time, in order');
    await page.waitForURL('**/batches/new?source=list&row_key=text&order=one+by+one');
    await page.getByLabel('Inputs of every run').fill('{"channel": "mail"}');
    const batch = await start(page);
    expect(batch).toMatchObject({ total_items: 3 });
    expect(batch.results[0]!.result).toEqual({ text: 'a', keys: 2 });
    const { body } = await dashboard.app.http.get('/api/v1/runs?limit=2').expect(200);
    expect(new Set(body.items.map(({ batch_id }: { batch_id: string }) => batch_id)).size).toBe(1);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await open(page);
    await choose(page, 'text,"a rather long name of a column, which has a comma"\none,two\n');
    await page.getByRole('region', { name: 'Preview' }).getByText('one').waitFor();
    await page.getByText('Options').click();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
