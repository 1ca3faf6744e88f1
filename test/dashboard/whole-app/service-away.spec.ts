// Opens the web app of a service process, which is killed and started again while the pages look. A proxy keeps the
// address of the service.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { builtDashboard } from '../../support/built-program.js';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { describePages, openTab } from '../../support/page-checks.js';
import { Service } from '../../support/service.js';

const CONFIG = `
server: { dashboard: true }
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

describePages('the web app while its service is killed and started again', (open) => {
  let folder: string;
  let service: Service;
  let proxy: CuttableProxy;

  const start = (): Promise<Service> =>
    Service.start(['--config', join(folder, 'starling.yaml'), '--database-url', `sqlite:${join(folder, 'a.db')}`]);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'starling-away-'));
    await writeFile(join(folder, 'starling.yaml'), CONFIG);
    service = await start();
    await builtDashboard();
    proxy = await CuttableProxy.start(service.url);
  });
  afterAll(async () => {
    await proxy.cut();
    await service.kill();
    await rm(folder, { recursive: true, force: true });
  });

  const publish = async (n: number): Promise<void> => {
    const headers = { 'Content-Type': 'application/json', 'X-Correlation-ID': 'orders' };
    const body = JSON.stringify({ type: 'Order', payload: { n } });
    const { status } = await fetch(`${service.url}/api/v1/artifacts/sync`, { method: 'POST', headers, body });
    expect(status).toBe(200);
  };

  it('says since when it is away, keeps what it shows, and then shows each artifact of the gap once', async () => {
    const { page: list, complaints } = await open();
    const tabs: Page[] = [list, (await openTab(list.context())).page, (await openTab(list.context())).page];
    const [, pointedAt, correlation] = tabs as [Page, Page, Page];
    await publish(1);
    await list.goto(`${proxy.url}/dashboard/artifacts?type=Echo`);
    await pointedAt.goto(`${proxy.url}/dashboard/artifacts?type=Echo`);
    await correlation.goto(`${proxy.url}/dashboard/correlations/orders`);
    for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor();
    const executions = correlation.getByRole('listitem').filter({ hasText: 'echo' });
    await rowOf(pointedAt, 1).hover();
    await rowOf(list, 1).waitFor();
    await executions.waitFor();
    expect(complaints).toEqual([]);

    const killedAt = new Date();
    await service.kill('SIGKILL');
    for (const tab of tabs) {
      const bar = tab.getByRole('alert').filter({ hasText: 'The service has not answered since' });
      await bar.waitFor();
      const [, since] = /since (\d\d:\d\d:\d\d)/.exec(await bar.innerText())!;
      expect(secondsBetween(killedAt, new Date())).toContain(since);
    }
    expect(await rowOf(list, 1).isVisible()).toBe(true);
    expect(await executions.count()).toBe(1);

    // The pages are away while these are published.
    service = await start();
    await publish(2);
    await publish(3);
    expect(await list.getByRole('alert').isVisible()).toBe(true);
    const back = /The service is back since \d\d:\d\d:\d\d, and the view was fetched again/;
    // The message is shown for 15 s.
    const returns = tabs.map((tab) => tab.getByText(back).waitFor());
    proxy.target = service.url;
    await Promise.all(returns);
    for (const tab of tabs) {
      await tab.getByText('Live', { exact: true }).waitFor();
      expect(await tab.getByText('has not answered').count()).toBe(0);
    }
    await pointedAt.getByRole('button', { name: /new$/ }).click();
    await showsOnce([list, pointedAt], executions, 3);

    await publish(4);
    await pointedAt.getByRole('button', { name: /new$/ }).click();
    await showsOnce([list, pointedAt], executions, 4);
  });
});

const rowOf = (page: Page, n: number): Locator => page.getByRole('row').filter({ hasText: `{"n":${n}}` });

/** Waits until the lists have a row for each artifact from 1 to `last`, and the correlation an execution. */
async function showsOnce(lists: Page[], executions: Locator, last: number): Promise<void> {
  for (const list of lists) {
    for (let n = 1; n <= last; n += 1) await rowOf(list, n).waitFor();
    // With the row of titles.
    expect(await list.getByRole('row').count()).toBe(last + 1);
  }
  await eventually('the timeline has all executions', async () => (await executions.count()) === last);
}

/** The times of day of all seconds from `first` to `last`, as the web app shows them. */
function secondsBetween(first: Date, last: Date): string[] {
  const count = Math.ceil((last.getTime() - first.getTime()) / 1_000) + 1;
  return Array.from({ length: count }, (_, second) =>
    new Date(first.getTime() + second * 1_000).toLocaleTimeString('en-GB'),
  );
}
