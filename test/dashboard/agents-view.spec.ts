// Opens the web app of the application in a real browser.
import type { Browser } from 'playwright-core';

import type { TestApp } from '../support/app.js';
import { browserMissing, startBrowser } from '../support/browser.js';
import { accessibilityFaults, LOOKS, openPage, scrollsSideways, startDashboard } from '../support/page-checks.js';

const CONFIG = `
agents:
  echo:
    description: Repeats an order
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": 1}' }
  matcher:
    consumes: [{ types: [Order, Echo] }]
    publishes: [{ type: Match }]
    engine: { kind: expression, expression: '{"n": 2}' }
`;

const whereBrowserIs = browserMissing ? describe.skip : describe;

whereBrowserIs('the view Agents', () => {
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

  it('lists the agents with what they consume and publish, and pauses and resumes one after a question', async () => {
    const { page, context, complaints } = await openPage(browser);
    await page.goto(`${app.url}/dashboard/agents`);
    const row = page.getByRole('row').filter({ hasText: 'matcher' });
    await row.getByText('Order and Echo').waitFor();
    await row.getByText('Match', { exact: true }).waitFor();
    await row.getByText('idle').waitFor();
    await page.getByRole('button', { name: 'Pause matcher' }).click();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await row.getByText('idle').waitFor();
    await page.getByRole('button', { name: 'Pause matcher' }).click();
    await page.getByRole('button', { name: 'Pause the agent' }).click();
    await row.getByText('paused').waitFor();
    await page.getByText('2 agents, 1 paused').waitFor();
    const { body } = await app.http.get('/api/v1/agents').expect(200);
    expect(body.agents).toEqual([
      expect.objectContaining({ name: 'echo', paused: false }),
      expect.objectContaining({ name: 'matcher', paused: true }),
    ]);
    await page.getByRole('button', { name: 'Resume matcher' }).click();
    await page.getByRole('button', { name: 'Resume the agent' }).click();
    await row.getByText('idle').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('counts what each agent did, and how long it took', async () => {
    const { page, context } = await openPage(browser);
    await app.http.post('/api/v1/artifacts/sync').send({ type: 'Order', payload: {} }).expect(200);
    await page.goto(`${app.url}/dashboard/agents?window=24h`);
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Pause echo' }) });
    await row.getByText(/\d+ ms \/ \d+ ms/).waitFor();
    expect(await row.getByRole('cell').nth(4).innerText()).toBe('1');
    expect(await row.getByRole('cell').nth(5).innerText()).toBe('0');
    await context.close();
  });

  it('keeps its filters in the URL', async () => {
    const { page, context } = await openPage(browser);
    await page.goto(`${app.url}/dashboard/agents`);
    await page.getByLabel('Name, type or description').fill('match');
    await page.getByLabel('Name, type or description').press('Enter');
    await page.waitForURL('**/agents?name=match');
    await page.reload();
    await page.getByText('matcher').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('State').selectOption('paused');
    await page.getByText('No agent matches these filters').waitFor();
    await context.close();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page, context } = await openPage(browser, look);
    await page.goto(`${app.url}/dashboard/agents`);
    await page.getByRole('row').nth(2).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: 'Pause echo' }).click();
    await page.getByRole('button', { name: 'Pause the agent' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await context.close();
  });
});
