// Opens the web app of the application in a real browser.
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

describeDashboard('the view Artifacts', { config: CONFIG }, (dashboard) => {
  const publish = async (n: number, tags: string[] = []): Promise<unknown> =>
    dashboard.app.http.post('/api/v1/artifacts/sync').send({ type: 'Order', payload: { n }, tags }).expect(200);

  it('says what to do if there is nothing, and then shows new artifacts as they are published', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/artifacts`);
    await page.getByText('The board is empty').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await publish(1, ['vip']);
    // The order may be shown before its echo is published.
    await eventually('both artifacts are shown', async () => {
      expect(await page.getByRole('row').allInnerTexts()).toEqual([
        expect.stringContaining('Type'),
        expect.stringMatching(/Echo[\s\S]*echo/),
        expect.stringMatching(/Order[\s\S]*external/),
      ]);
      return true;
    });
    expect(complaints).toEqual([]);
  });

  it('keeps its filters in the URL, also when the page is loaded again', async () => {
    const { page } = await dashboard.open();
    await publish(2);
    await page.goto(`${dashboard.app.url}/dashboard/artifacts`);
    await page.getByLabel('Type', { exact: true }).fill('Echo');
    await page.getByLabel('Type', { exact: true }).press('Enter');
    await page.waitForURL('**/artifacts?**type=Echo**');
    await page.reload();
    await page.getByRole('button', { name: 'Remove Echo' }).waitFor();
    await page.getByRole('row').nth(1).waitFor();
    const types = await page.locator('[role=row] [role=cell]:first-child').allInnerTexts();
    expect(new Set(types)).toEqual(new Set(['Echo']));
  });

  it("shows the server's answer to a wrong filter", async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/artifacts?from=yesterday`);
    await page
      .getByRole('region', { name: 'Artifacts' })
      .getByRole('alert')
      .filter({
        hasText: 'Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24',
      })
      .waitFor();
  });

  it('reads further pages while it is scrolled, and has few rows at any time', async () => {
    const { page } = await dashboard.open();
    for (let n = 0; n < 130; n += 1)
      await dashboard.app.http
        .post('/api/v1/artifacts')
        .send({ type: 'Order', payload: { n } })
        .set('X-Correlation-ID', 'many');
    await page.goto(`${dashboard.app.url}/dashboard/artifacts?correlation_id=many&type=Order&order=asc`);
    await page.getByText('130 artifacts').waitFor();
    const last = page.getByRole('row').filter({ hasText: '{"n":129}' });
    await page.locator('[data-scroller]').hover();
    await eventually('the last row is in sight', async () => {
      await page.mouse.wheel(0, 1_000);
      return last.isVisible();
    });
    expect(await page.getByRole('row').count()).toBeLessThan(60);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await publish(3, ['vip']);
    await page.goto(`${dashboard.app.url}/dashboard/artifacts`);
    await page.getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
