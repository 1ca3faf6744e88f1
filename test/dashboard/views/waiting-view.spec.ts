// Opens the web app of the application in a real browser.
import type { Page } from 'playwright-core';

import { accessibilityFaults, askAgain, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
agents:
  supervisor:
    consumes: [{ types: [Intent, Routing], join: { within: 1h } }]
    publishes: [{ type: Reply }]
    engine: { kind: expression, expression: '{"ok": true}' }
  cashier:
    consumes: [{ types: [Invoice, Payment], join: { by: payload.number } }]
    publishes: [{ type: Shipment }]
    engine: { kind: expression, expression: '{"ok": true}' }
  bookkeeper:
    consumes: [{ types: [Invoice], batch: { size: 3, timeout: 1h } }]
    publishes: [{ type: Ledger }]
    engine: { kind: expression, expression: '{"count": size(payload)}' }
  hasty:
    consumes: [{ types: [Ping, Pong], join: { within: 12s } }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"ok": true}' }
`;

describeDashboard('the view Waiting', { config: CONFIG }, (dashboard) => {
  const publish = (type: string, correlation: string, payload: object = {}): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type, payload })
      .expect(200);

  const open = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
  };

  const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Waiting group' });

  it('shows what has come and what is missing, and drops a join by itself when its time is over', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page, '/waiting');
    await page.getByText('No join and no batch window waits').waitFor();
    await page.getByRole('link', { name: 'Publish an example' }).waitFor();
    await publish('Ping', 'hasty-1');
    await rowOf(page, 'hasty').getByText('Pong').waitFor();
    await page.getByText('No join and no batch window waits').waitFor();
    expect(complaints).toEqual([]);
  });

  it('moves no row under the pointer, and says in the panel that a group has ended', async () => {
    const { page } = await dashboard.open();
    await publish('Intent', 'ticket-1');
    await open(page, '/waiting?agent=supervisor');
    await page.getByRole('button', { name: 'supervisor' }).click();
    await page.waitForURL('**/waiting?agent=supervisor&group=*');
    const panel = panelOf(page);
    await panel.getByText('1: Intent and Routing').waitFor();
    await panel.getByText('it is dropped then, with an error').waitFor();
    await panel.getByText('Arrived: 1 artifact').waitFor();
    await panel.getByRole('link', { name: 'ticket-1' }).first().waitFor();
    expect(await panel.getByRole('link', { name: 'Publish Routing' }).getAttribute('href')).toMatch(
      /publish\?type=Routing&correlation_id=ticket-1$/,
    );
    await publish('Routing', 'ticket-1');
    await panel.getByText('It no longer waits').waitFor();
    const more = page.getByRole('button', { name: 'Show what is new' });
    await more.waitFor();
    expect(await page.getByRole('button', { name: 'supervisor' }).isVisible()).toBe(true);
    await more.click();
    await page.getByText('No join and no batch window matches these filters').waitFor();
    await panel.getByRole('button', { name: 'Close Waiting group' }).focus();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await page.waitForURL('**/waiting?agent=supervisor');
  });

  it('keeps its filters when the page is loaded again, and through back and forward', async () => {
    const { page } = await dashboard.open();
    await publish('Intent', 'ticket-2');
    await publish('Invoice', 'order-1', { number: 7 });
    await open(page, '/waiting');
    await rowOf(page, 'supervisor').waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('cashier');
    await page.waitForURL('**/waiting?agent=cashier');
    await rowOf(page, 'supervisor').waitFor({ state: 'hidden' });
    await page.getByLabel('Correlation', { exact: true }).fill('order-1');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/waiting?agent=cashier&correlation_id=order-1');
    await page.reload();
    await rowOf(page, 'cashier').getByText('Payment').waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.waitForURL('**/agents');
    await page.goBack();
    await rowOf(page, 'cashier').getByText('Payment').waitFor();
    expect(await page.getByRole('combobox', { name: 'Agent' }).inputValue()).toBe('cashier');
    expect(await page.getByLabel('Correlation', { exact: true }).inputValue()).toBe('order-1');
    await page.goForward();
    await page.waitForURL('**/agents');
    await page.goBack();
    await page.getByLabel('Correlation', { exact: true }).fill('nowhere');
    await page.keyboard.press('Enter');
    await page.getByText('No join and no batch window matches these filters').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click();
    await rowOf(page, 'supervisor').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  it('lists the artifacts of a batch window, which lead to their correlations', async () => {
    const { page } = await dashboard.open();
    await publish('Invoice', 'order-2', { number: 8 });
    await open(page, '/waiting?agent=bookkeeper');
    await rowOf(page, 'bookkeeper').getByText('1 more').waitFor();
    await rowOf(page, 'bookkeeper').getByText('several').waitFor();
    await page.getByRole('button', { name: 'bookkeeper' }).click();
    await panelOf(page).getByText('the agent runs then with what has come').waitFor();
    expect(await panelOf(page).getByRole('link', { name: 'Invoice', exact: true }).count()).toBe(2);
    await panelOf(page).getByRole('link', { name: 'order-2' }).click();
    await page.getByRole('region', { name: 'Waits for' }).getByRole('link', { name: 'batch window' }).click();
    await page.waitForURL('**/waiting?group=*');
    await panelOf(page).getByText('Arrived: 2 artifacts').waitFor();
    await panelOf(page).getByRole('link', { name: 'Invoice', exact: true }).first().click();
    await page.waitForURL('**/artifacts/*');
  });

  it('is reached from the overview and from the palette', async () => {
    const { page } = await dashboard.open();
    await open(page, '');
    await page.getByRole('link', { name: 'In joins' }).click();
    await page.waitForURL('**/waiting');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.waitForURL('**/agents');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'View, agent, type or id' }).fill('waiting');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/waiting');
  });

  it("shows the server's answer if a group is missing or the list cannot be read, and asks again", async () => {
    const { page } = await dashboard.open();
    await page.route('**/api/v1/waiting?*', (route) =>
      route.fulfill({ status: 400, json: { detail: 'The database is being repaired' } }),
    );
    await open(page, '/waiting?group=missing');
    const message = page.getByRole('alert').filter({ hasText: 'The database is being repaired' });
    await message.waitFor();
    await panelOf(page).getByRole('alert').filter({ hasText: 'Waiting group not found: missing' }).waitFor();
    await page.unroute('**/api/v1/waiting?*');
    await askAgain(message);
    await page.getByRole('row').nth(1).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await publish('Invoice', 'order-3', { number: 9 });
    const { body } = await dashboard.app.http.get('/api/v1/waiting?agent=cashier').expect(200);
    await open(page, `/waiting?group=${body.items[0].group_id}`);
    await panelOf(page).getByText('Arrived').waitFor();
    await page.getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
