// Opens the web app of the application in a real browser.
import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, askAgain, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: function, module: ./echo.ts }
  matcher:
    consumes: [{ types: [Echo, Payment], join: { by: payload.n } }]
    publishes: [{ type: Match }]
    engine: { kind: expression, expression: '{"n": 1}' }
  packer:
    consumes: [{ types: [Match], batch: { size: 25 } }, { types: [Echo] }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"n": 1}' }
`;

const FILES = {
  'echo.ts': `export default ([{ payload }]) => { if (payload.n < 0) throw new Error('less than nothing'); return payload; };`,
};

const GRAPH = { name: 'How data flows; the table has the same' };

describeDashboard('the graph of the configuration', { config: CONFIG, files: FILES }, (dashboard) => {
  const publish = (type: string, n: number): Promise<unknown> =>
    dashboard.app.http.post('/api/v1/artifacts').send({ type, payload: { n } }).expect(200);

  const openJoins = async (): Promise<number> =>
    (await dashboard.app.http.get('/api/v1/waiting?agent=matcher').expect(200)).body.items.length;

  const open = async (path = '/graph'): Promise<Page> => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    return page;
  };

  const zoomOf = (page: Page): Promise<number> =>
    page.evaluate(
      `new DOMMatrixReadOnly(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a`,
    );

  it('has types and agents as links, and what they did in the last hour, and follows it', async () => {
    const page = await open();
    const graph = page.getByRole('application', GRAPH);
    await graph.getByRole('link', { name: 'agent echo nothing ended in the last hour' }).waitFor();
    await page.getByText('5 types, 3 agents, 1 join, 1 batch window').waitFor();
    await publish('Order', 1);
    for (const n of [2, 3, -1]) await publish('Order', n);
    await graph.getByRole('link', { name: 'agent echo 4 executions ended in the last hour, 25 % failed' }).waitFor();
    await graph.getByText('4 · 25 % failed', { exact: true }).waitFor();
    await graph.getByRole('link', { name: 'agent echo' }).click();
    await page.waitForURL('**/dashboard/agents/echo');
    await page.goBack();
    await graph.getByRole('link', { name: 'type Echo' }).click();
    await page.waitForURL('**/dashboard/artifacts?type=Echo');
  });

  it('has joins and windows, and says how many of them are open', async () => {
    const page = await open();
    const graph = page.getByRole('application', GRAPH);
    const before = await openJoins();
    await graph.getByText(`join of matcher, ${before} open`).waitFor();
    for (const n of [101, 102]) await publish('Payment', n);
    await graph.getByText(`join of matcher, ${before + 2} open`).waitFor();
    await publish('Order', 102);
    await graph.getByText(`join of matcher, ${before + 1} open`).waitFor();
    await graph.getByText('window of packer, 1 open').waitFor();
  });

  it('has the same as a table, which the URL keeps', async () => {
    const page = await open();
    await page.getByRole('application', GRAPH).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.waitForURL('**/graph?as=table');
    await page.reload();
    const agents = page.getByRole('table', { name: 'Agents' }).getByRole('row');
    await agents
      .filter({ hasText: 'Echo and Payment, joined' })
      .getByText(`join, ${await openJoins()} open`)
      .waitFor();
    await agents.filter({ hasText: 'Match in windows of 25' }).getByText('each Echo').waitFor();
    expect(await page.getByRole('table', { name: 'Types' }).getByRole('row').allInnerTexts()).toEqual([
      'Type\tPublished by\tConsumed by',
      'Order\t–\techo',
      'Echo\techo\tmatcher, packer',
      'Payment\t–\tmatcher',
      'Match\tmatcher\tpacker',
      'Pack\tpacker\t–',
    ]);
    await page.getByRole('table', { name: 'Agents' }).getByRole('link', { name: 'echo', exact: true }).click();
    await page.waitForURL('**/dashboard/agents/echo');
  });

  it('is zoomed and moved by buttons and by keys', async () => {
    const page = await open();
    const graph = page.getByRole('application', GRAPH);
    await graph.getByRole('link', { name: 'agent echo' }).waitFor();
    const first = await zoomOf(page);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await eventually('it is larger', async () => (await zoomOf(page)) > first);
    await page.getByRole('button', { name: 'Show the whole graph' }).click();
    await eventually('all of it is shown', async () => (await zoomOf(page)) <= first);
    const whole = await zoomOf(page);
    await graph.focus();
    await page.keyboard.press('-');
    await eventually('it is smaller', async () => (await zoomOf(page)) < whole);
    await page.keyboard.press('0');
    await eventually('all of it is shown', async () => (await zoomOf(page)) === whole);
  });

  it('shows the node that has the focus', async () => {
    const page = await open();
    const graph = page.getByRole('application', GRAPH);
    const first = graph.getByRole('link').first();
    await first.waitFor();
    await graph.focus();
    for (let times = 0; times < 20; times += 1) await page.keyboard.press('ArrowRight');
    const isInSight = async (): Promise<boolean> => {
      const [outer, inner] = [(await graph.boundingBox())!, (await first.boundingBox())!];
      return inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width;
    };
    await eventually('it is out of sight', async () => !(await isInSight()));
    await page.keyboard.press('Tab');
    await eventually('it is in sight', isInSight);
    expect(await graph.locator('a:focus').innerText()).toBe(await first.innerText());
  });

  it("shows the server's answer if a request fails, and asks again", async () => {
    const { page } = await dashboard.open();
    await page.route('**/api/v1/agents', (route) =>
      route.fulfill({ status: 400, contentType: 'application/json', body: '{"detail":"the agents are out"}' }),
    );
    await page.goto(`${dashboard.app.url}/dashboard/graph`);
    const message = page.getByRole('alert').filter({ hasText: 'the agents are out' });
    await message.waitFor();
    await page.unroute('**/api/v1/agents');
    await askAgain(message);
    await page.getByRole('application', GRAPH).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page, complaints } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/graph`);
    await page.getByRole('application', GRAPH).getByRole('link', { name: 'agent packer' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('table', { name: 'Types' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
  });
});

describeDashboard('the graph of an empty configuration', { config: 'agents: {}' }, (dashboard) => {
  it('says what to do', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/graph`);
    await page.getByText('Nothing is configured').waitFor();
  });
});
