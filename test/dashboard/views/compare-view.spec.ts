// Opens the web app of the application in a real browser, and compares two correlations.
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
agents:
  router:
    consumes: [{ types: [Ticket] }]
    publishes: [{ type: Route }]
    engine: { kind: expression, expression: "{'queue': payload.queue, 'language': 'en'}" }
  escalator:
    consumes: [{ types: [Route], where: "payload.queue == 'fraud'" }]
    publishes: [{ type: Escalation }]
    engine: { kind: expression, expression: '{}' }
`;

describeDashboard('the view Compare', { config: CONFIG }, (dashboard) => {
  beforeAll(async () => {
    for (const [id, queue] of [
      ['left-1', 'cards'],
      ['left-2', 'cards'],
      ['right-1', 'fraud'],
    ])
      await dashboard.app.http
        .post('/api/v1/artifacts/sync')
        .set('X-Correlation-ID', id!)
        .send({ type: 'Ticket', payload: { queue } })
        .expect(200);
  });

  const pairs = 'Pairs';

  it('is reached from a correlation, and says what differs on each side', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/correlations/left-1`);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('Choose two correlations').waitFor();
    await page.getByLabel('Right correlation').fill('right-1');
    await page.getByLabel('Right correlation').press('Enter');
    await page.getByText('2 pairs, 0 only left, 1 only right').waitFor();

    const rows = page.getByRole('list', { name: pairs }).getByRole('listitem');
    await eventually('three artifacts differ', async () => (await rows.count()) === 3);
    const route = rows.filter({ hasText: 'by router' });
    expect(await route.innerText()).toMatch(/changed/);
    const changes = route.getByRole('table').getByRole('row');
    expect(await changes.nth(1).getByRole('cell').allInnerTexts()).toEqual(['/queue', '"cards"', '"fraud"']);
    expect(await changes.count()).toBe(2);
    expect(await rows.filter({ hasText: 'Escalation' }).innerText()).toMatch(/only right[\s\S]*Left\s+nothing/);

    const escalator = page.getByRole('table', { name: 'Agents' }).getByRole('row', { name: /escalator/ });
    expect(await escalator.innerText()).toMatch(/none → 1/);
    const left = page.getByRole('region', { name: 'Left' });
    expect(await left.innerText()).toMatch(/2 artifacts, 0 errors/);
    await left.getByRole('link', { name: 'left-1' }).click();
    await page.waitForURL(/\/correlations\/left-1/);
    expect(complaints).toEqual([]);
  });

  it('leaves equal pairs out until they are asked for', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/compare?left=left-1&right=left-2`);
    await page.getByText('All artifacts are equal').waitFor();
    await page.getByText('2 pairs have the same payload on both sides.').waitFor();
    await page.getByRole('button', { name: 'All pairs' }).click();
    const rows = page.getByRole('list', { name: pairs }).getByRole('listitem');
    await eventually('both pairs are shown', async () => (await rows.count()) === 2);
    expect(await rows.first().innerText()).toMatch(/equal/);
  });

  it('shows the artifacts that are published while it is open', async () => {
    const { http, url } = dashboard.app;
    const { page } = await dashboard.open();
    const visibility = { kind: 'After', ttl: 'PT1H' };
    for (const id of ['open-1', 'open-2'])
      await http
        .post('/api/v1/artifacts')
        .set('X-Correlation-ID', id)
        .send({ type: 'Ticket', payload: { queue: 'cards' }, visibility })
        .expect(200);
    await page.goto(`${url}/dashboard/compare?left=open-1&right=open-2`);
    await page.getByText('1 pair, 0 only left, 0 only right').waitFor();
    await http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'open-1')
      .send({ type: 'Ticket', payload: { queue: 'cards' } })
      .expect(200);
    await page.getByText('1 pair, 2 only left, 0 only right').waitFor();
  });

  it('says which correlation does not exist', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/compare?left=left-1&right=unknown`);
    await page.getByRole('alert').getByText('unknown').waitFor();
  });

  it.each(LOOKS)('has no faults of accessibility: $colorScheme, $width px', async (look) => {
    const { page, complaints } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/compare?left=left-1&right=right-1`);
    await page.getByRole('list', { name: pairs }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
  });
});
