// Opens the web app of the application in a real browser.
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{}' }
  approver:
    consumes: [{ types: [Invoice] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

describeDashboard('the view Correlations', { config: CONFIG }, (dashboard) => {
  const publish = (correlation: string, type: string): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type, payload: {} })
      .expect(200);

  it('shows correlations as they begin and end, newest first', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/correlations`);
    await page.getByText('Nothing has been published yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await publish('order-1', 'Order');
    const rows = page.getByRole('row');
    await rows.filter({ hasText: 'order-1' }).getByText('completed').waitFor();
    await publish('invoice-1', 'Invoice');
    await rows.filter({ hasText: 'invoice-1' }).getByText('active').waitFor();
    expect(await page.locator('[role=row] [role=cell]:nth-child(2)').allInnerTexts()).toEqual([
      expect.stringContaining('invoice-1'),
      expect.stringContaining('order-1'),
    ]);
    await dashboard.app.http.post('/api/v1/correlations/invoice-1/cancel').expect(200);
    await rows.filter({ hasText: 'invoice-1' }).getByText('cancelled').waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps its filters in the URL, and leads to the correlation', async () => {
    await publish('order-2', 'Order');
    await publish('invoice-2', 'Invoice');
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/correlations`);
    await page.getByRole('combobox', { name: 'State' }).selectOption('active');
    await page.getByLabel('Id begins with').fill('invoice');
    await page.getByLabel('Id begins with').press('Enter');
    await page.waitForURL('**/correlations?**id_prefix=invoice**');
    await page.reload();
    await page.getByRole('link', { name: 'invoice-2' }).click();
    await page.getByRole('list', { name: 'Timeline' }).waitFor();
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Correlations' }).click();
    await page.getByRole('link', { name: 'order-2' }).waitFor();
  });

  it('shows replays, and how they replay, only if asked', async () => {
    await publish('invoice-4', 'Invoice');
    await dashboard.app.http.post('/api/v1/correlations/invoice-4/cancel').expect(200);
    const { body } = await dashboard.app.http
      .post('/api/v1/correlations/invoice-4/replay')
      .send({ mode: 'shadow' })
      .expect(200);
    const id = (body as { correlation_id: string }).correlation_id;
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/correlations`);
    await page.getByRole('link', { name: 'invoice-4' }).waitFor();
    expect(await page.getByText('shadow replay').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Replays' }).selectOption('included');
    const row = page.getByRole('row').filter({ hasText: 'shadow replay' });
    await row.getByRole('link').click();
    await page.waitForURL(`**/correlations/${id}**`);
  });

  it.each([
    [1_600, [8]],
    [1_280, [5, 3]],
    [1_024, [5, 3]],
    [640, [3, 3, 2]],
    [320, [2, 2, 2, 2]],
  ])('has its filters in even rows, %d px wide', async (width, expected) => {
    const { page } = await dashboard.open();
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${dashboard.app.url}/dashboard/correlations`);
    const filters = page.getByRole('search', { name: 'Filters' });
    if (width < 640) await filters.getByRole('button', { name: 'Filters' }).click();
    await filters.getByLabel('To', { exact: true }).waitFor();
    const tops = await filters
      .locator('.control')
      .evaluateAll((fields) => fields.map((field) => Math.round(field.getBoundingClientRect().top)));
    expect([...new Set(tops)].map((row) => tops.filter((top) => top === row).length)).toEqual(expected);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    await publish('order-3', 'Order');
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/correlations`);
    await page.getByRole('link', { name: 'order-3' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
