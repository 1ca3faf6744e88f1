// Opens the web app of the application in a real browser.
import type { Page } from 'playwright-core';

import type { TestAppOptions } from '../../support/app.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';
import { answers, Receiver } from '../../support/receiver.js';

const CONFIG = `
agents:
  broken:
    consumes: [{ types: [Order] }]
    engine: { kind: function, module: ./broken.ts }
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

const FILES = { 'broken.ts': `export default () => { throw new Error('the printer is on fire'); };` };

const folder = new ConfigurationFolder();

async function options(): Promise<TestAppOptions> {
  folder.write('broken.ts', FILES['broken.ts']);
  const replayConfigs = [{ name: 'candidate', file: folder.write('candidate.yaml', CONFIG) }];
  return { config: CONFIG, files: FILES, settings: { replayConfigs } };
}

interface Asked {
  url: string;
  /** In ms, by the clock of the page. */
  at: number;
}

/** Two panels that ask for the same do so within this time, since both follow the same events. */
const AT_ONCE_MS = 100;

const RECORD_REQUESTS = `{
  window.asked = [];
  const { fetch } = window;
  window.fetch = (request, options) => {
    window.asked.push({ url: request.url ?? String(request), at: performance.now() });
    return fetch(request, options);
  };
}`;

describeDashboard('the overview', options, (dashboard) => {
  afterAll(() => folder.remove());

  const publish = (): Promise<unknown> =>
    dashboard.app.http.post('/api/v1/artifacts').send({ type: 'Order', payload: {} }).expect(200);

  const countOf = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title });

  it('says what waits, what failed, who is paused, and which processes live', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByText('The service and its database are up').waitFor();
    await page.getByText('No execution has failed.').waitFor();
    await countOf(page, 'For people').getByText('0', { exact: true }).waitFor();
    const processes = page.getByRole('region', { name: 'Processes' });
    await processes.getByText('server and worker').waitFor();
    await processes.getByText('replays with candidate').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();

    await publish();
    const failures = page.getByRole('region', { name: 'Newest failures' });
    await failures.getByText('the printer is on fire').waitFor();
    await countOf(page, 'For people').getByText('1', { exact: true }).waitFor();
    const activity = page.getByRole('region', { name: 'Agents' }).getByRole('row').filter({ hasText: 'broken' });
    await activity.getByText('1 (100 %)').waitFor();
    await page.getByRole('button', { name: '24h' }).click();
    await page.waitForURL(/window=24h/);
    await dashboard.app.http.post('/api/v1/agents/broken/pause').expect(200);
    await page.reload();
    await page.getByText('1 agent paused:').waitFor();

    await failures.getByRole('link', { name: 'broken' }).click();
    await page.getByRole('complementary', { name: 'Selection' }).getByText('the printer is on fire').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('asks for nothing twice when something happens', async () => {
    const { page } = await dashboard.open();
    await page.addInitScript(RECORD_REQUESTS);
    const answered = (path: string) => page.waitForResponse((response) => new URL(response.url()).pathname === path);
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Processes' }).getByText('server and worker').waitFor();
    const since = await page.evaluate<number>('performance.now()');
    for (let times = 0; times < 2; times += 1) {
      const answers = Promise.all(['/metrics', '/api/v1/processes'].map(answered));
      await publish();
      await answers;
    }
    const asked = (await page.evaluate<Asked[]>('asked')).filter(({ at }) => at > since);
    const twins = asked.filter(({ url, at }, index) =>
      asked.slice(0, index).some((earlier) => earlier.url === url && at - earlier.at < AT_ONCE_MS),
    );
    expect(asked.length).toBeGreaterThanOrEqual(4);
    // A request that the view sends every ten seconds may meet one of the others.
    expect(twins.length).toBeLessThanOrEqual(1);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    await publish();
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByRole('region', { name: 'Newest failures' }).getByRole('listitem').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});

const WAITING_CONFIG = `
types: { Order: {}, Left: {}, Right: {} }
agents:
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
  resting:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": 1}' }
  flaky:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.missing}' }
    retry: { attempts: 2, delay: 1h }
  joiner:
    consumes: [{ types: [Left, Right] }]
    publishes: [{ type: Joined }]
    engine: { kind: expression, expression: '{"n": 1}' }
`;

const WAITING_SETTINGS = {
  maxPendingExecutions: 3,
  maxWaitingArrivals: 1,
  outboundAllow: ['127.0.0.1/32'],
  webhookRetries: [3_600_000],
};

const rowsOf = (page: Page) => page.locator('[role=row][data-index]');

describeDashboard('the overview of what waits', { config: WAITING_CONFIG, settings: WAITING_SETTINGS }, (dashboard) => {
  it('says for what, compares it with the limit, names webhooks that fail, and leads to the rows', async () => {
    const { http, url } = dashboard.app;
    const receiver = await Receiver.start();
    receiver.on('/down', answers(503));
    await http.post('/api/v1/agents/resting/pause').expect(200);
    await http.post('/api/v1/artifacts').send({ type: 'Left', payload: {} }).expect(200);
    await http
      .post('/api/v1/artifacts')
      .send({ type: 'Order', payload: {}, webhook: { url: receiver.url('/down') } })
      .expect(200);
    const { page, complaints } = await dashboard.open();
    await page.goto(`${url}/dashboard`);
    for (const title of ['For people', 'In joins', 'Paused', 'Retrying']) {
      const tile = page.getByRole('listitem').filter({ has: page.getByText(title, { exact: true }) });
      await tile.getByText('1', { exact: true }).waitFor();
    }
    const backlog = page.getByRole('region', { name: 'Backlog' });
    await backlog.getByText('3 of 3', { exact: true }).waitFor();
    await backlog.getByText('Publishes are refused until some of it has ended.').waitFor();
    await backlog.getByText(/^Publishes that would add to it are refused/).waitFor();
    const meter = backlog.getByRole('meter', { name: 'Waiting executions' });
    expect(await meter.getAttribute('aria-valuenow')).toBe('3');

    await page.getByRole('link', { name: receiver.url('') }).click();
    await page.waitForURL('**/deliveries?target_id=*');
    await page.getByRole('row').filter({ hasText: 'answered 503' }).waitFor();
    for (const [title, address] of [
      ['Paused', '**/executions?waits_for=resume'],
      ['Retrying', '**/executions?waits_for=retry'],
      ['For people', '**/inbox'],
      ['In joins', '**/waiting'],
    ] as const) {
      await page.goto(`${url}/dashboard`);
      await page.getByRole('link', { name: title, exact: true }).click();
      await page.waitForURL(address);
      await rowsOf(page).first().waitFor();
      expect([title, await rowsOf(page).count()]).toEqual([title, 1]);
    }
    expect(complaints).toEqual([]);
    await receiver.close();
  });

  it.each(LOOKS)('is accessible while it is full: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByText('Publishes are refused until some of it has ended.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
