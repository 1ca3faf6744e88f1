// Opens the web app of the application in a real browser.
import type { Locator, Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

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

/** On a busy machine, an execution may take seconds. */
const TIME = /^[\d.]+ m?s$/;

/** The cell of a row in the column with this title. */
async function cellOf(page: Page, row: Locator, title: string): Promise<Locator> {
  const titles = await page.getByRole('columnheader').allInnerTexts();
  return row.getByRole('cell').nth(titles.indexOf(title));
}

describeDashboard('the view Agents', { config: CONFIG }, (dashboard) => {
  it('lists the agents with what they consume and publish, and pauses and resumes one after a question', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents`);
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
    const { body } = await dashboard.app.http.get('/api/v1/agents').expect(200);
    expect(body.agents).toEqual([
      expect.objectContaining({ name: 'echo', paused: false }),
      expect.objectContaining({ name: 'matcher', paused: true }),
    ]);
    await page.getByRole('button', { name: 'Resume matcher' }).click();
    await page.getByRole('button', { name: 'Resume the agent' }).click();
    await row.getByText('idle').waitFor();
    expect(complaints).toEqual([]);
  });

  it('counts what each agent did, and how long it took', async () => {
    const { page } = await dashboard.open();
    await dashboard.app.http.post('/api/v1/artifacts/sync').send({ type: 'Order', payload: {} }).expect(200);
    await page.goto(`${dashboard.app.url}/dashboard/agents?window=24h`);
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Pause echo' }) });
    const cell = async (title: string): Promise<string> => (await cellOf(page, row, title)).innerText();
    // The cells come from several answers.
    const counts = async (): Promise<string> =>
      (await Promise.all(['Waiting', 'Ended', 'Failed', 'Cost'].map(cell))).join(' ');
    await eventually('the row has its counts', async () => (await counts()) === '0 1 0 –');
    await row.getByText(TIME).first().waitFor();
    expect([await cell('p50'), await cell('p95')]).toEqual([expect.stringMatching(TIME), expect.stringMatching(TIME)]);
  });

  it('counts what waits for a paused agent as it comes, and sorts by a column in the URL', async () => {
    const { page } = await dashboard.open();
    await dashboard.app.http.post('/api/v1/agents/matcher/pause').expect(200);
    await page.goto(`${dashboard.app.url}/dashboard/agents`);
    const names = (): Promise<string[]> => page.locator('[role=row] [role=cell]:first-child').allInnerTexts();
    const row = page.getByRole('row').filter({ hasText: 'matcher' });
    await row.getByText('paused').waitFor();
    expect(await names()).toEqual(['echo', 'matcher']);
    await page.getByText('Live', { exact: true }).waitFor();
    await dashboard.app.http.post('/api/v1/artifacts').send({ type: 'Order', payload: {} }).expect(200);
    await (await cellOf(page, row, 'Waiting')).filter({ hasText: /^1$/ }).waitFor();
    await page.getByRole('button', { name: 'Waiting' }).click();
    await page.waitForURL('**/agents?sort=waiting&order=desc');
    await page.getByRole('columnheader', { name: 'Waiting' }).and(page.locator('[aria-sort=descending]')).waitFor();
    expect(await names()).toEqual(['matcher', 'echo']);
    await page.getByRole('button', { name: 'Waiting' }).click();
    await page.locator('[aria-sort=ascending]').waitFor();
    expect(await names()).toEqual(['echo', 'matcher']);
    await dashboard.app.http.post('/api/v1/agents/matcher/resume').expect(200);
    await row.getByText('idle').waitFor();
  });

  it('shows a count that the service has only after the last event', async () => {
    const { app } = dashboard;
    const { page } = await dashboard.open();
    await app.http.post('/api/v1/agents/echo/pause').expect(200);
    const early = (await app.http.get('/api/v1/agents').expect(200)).body as { agents: { waiting: number }[] };
    let asked = 0;
    await page.route('**/api/v1/agents', async (route) => {
      asked += 1;
      await route.fulfill({ json: early });
    });
    await page.goto(`${app.url}/dashboard/agents`);
    await page.getByText('Live', { exact: true }).waitFor();
    const askedBefore = asked;
    await app.http.post('/api/v1/artifacts').send({ type: 'Order', payload: {} }).expect(200);
    await eventually('the view has asked after the event', () => asked > askedBefore);
    await page.unroute('**/api/v1/agents');
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Resume echo' }) });
    await (await cellOf(page, row, 'Waiting')).filter({ hasText: /^1$/ }).waitFor();
    await app.http.post('/api/v1/agents/echo/resume').expect(200);
    await row.waitFor({ state: 'detached' });
  });

  it('keeps its filters in the URL', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents`);
    await page.getByLabel('Name, type or description').fill('match');
    await page.getByLabel('Name, type or description').press('Enter');
    await page.waitForURL('**/agents?name=match');
    await page.reload();
    await page.getByText('matcher').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('State').selectOption('paused');
    await page.getByText('No agent matches these filters').waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/agents`);
    await page.getByRole('row').nth(2).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: 'Pause echo' }).click();
    await page.getByRole('button', { name: 'Pause the agent' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
