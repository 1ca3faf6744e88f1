// Opens the web app of the application in a real browser. Deliveries go to an HTTP server of the test.
import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';
import { answers, Receiver } from '../../support/receiver.js';

const CONFIG = `
types:
  Order: { schema: { type: object } }
`;

const SETTINGS = { outboundAllow: ['127.0.0.1/32'], webhookRetries: [3_600_000] };

describeDashboard('the view Deliveries', { config: CONFIG, settings: SETTINGS }, (dashboard) => {
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    receiver.on('/down', answers(503));
    receiver.on('/gone', answers(410));
  });
  afterAll(() => receiver.close());

  const publish = (correlation: string, path: string): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Order', payload: {}, webhook: { url: receiver.url(path) } })
      .expect(200);

  const open = async (page: Page, query = ''): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard/deliveries${query}`);
    await page.getByText('Live', { exact: true }).waitFor();
  };

  const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  it('says what to do if there is nothing, and then shows new deliveries and their ends', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page);
    await page.getByText('No webhook has been sent yet').waitFor();
    await publish('first', '/fine');
    await rowOf(page, 'first').filter({ hasText: 'delivered' }).filter({ hasText: '200' }).waitFor();
    await publish('broken', '/down');
    await rowOf(page, 'broken').filter({ hasText: 'retrying' }).filter({ hasText: 'answered 503' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('is in the rail, keeps its filters over a reload, and says if they leave nothing', async () => {
    await publish('gone', '/gone');
    await publish('second', '/fine');
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('combobox', { name: 'State' }).selectOption('dead');
    await page.waitForURL('**/deliveries?state=dead');
    await rowOf(page, 'gone').waitFor();
    await page.reload();
    await rowOf(page, 'gone').waitFor();
    expect(await rowOf(page, 'second').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Correlation' }).fill('nothing');
    await page.getByRole('textbox', { name: 'Correlation' }).press('Enter');
    await page.getByText('No delivery matches these filters').waitFor();
  });

  it('shows the attempts of one with the answers, and sends it again after a question', async () => {
    await publish('closed', '/gone');
    const { page } = await dashboard.open();
    await open(page, '?correlation_id=closed&state=dead');
    await rowOf(page, 'closed').getByRole('button', { name: '127.0.0.1' }).click();
    await page.waitForURL(/delivery=/);
    await page.reload();
    const panel = page.getByRole('complementary', { name: 'Delivery' });
    await panel.getByText('answered 410', { exact: true }).waitFor();
    expect(await panel.getByRole('listitem').count()).toBe(1);
    await panel.getByRole('button', { name: 'Send again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send this delivery again?' });
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    expect(receiver.received.filter(({ correlation }) => correlation === 'closed')).toHaveLength(1);
    receiver.on('/gone', answers(200));
    await panel.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByRole('button', { name: 'Send 1 delivery' }).click();
    await panel.getByText('answered 200', { exact: true }).waitFor();
    expect(await panel.getByRole('listitem').count()).toBe(2);
    await page.getByText('No delivery matches these filters').waitFor();
    receiver.on('/gone', answers(410));
  });

  it("shows the server's answer if the delivery is missing", async () => {
    const { page } = await dashboard.open();
    await open(page, '?delivery=missing');
    await page.getByRole('alert').filter({ hasText: 'Delivery not found: missing' }).waitFor();
  });

  it('lists the targets with what they have not received, and leads to their deliveries', async () => {
    await publish('lost', '/gone');
    await publish('late', '/down');
    const { page } = await dashboard.open();
    await open(page);
    await page.getByRole('button', { name: 'Targets' }).click();
    await page.waitForURL('**/deliveries?view=targets');
    const targetsIn = (state: string) => page.getByRole('row', { name: new RegExp(`^${state} http`) });
    await targetsIn('failing').waitFor();
    await targetsIn('ok').first().waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('failing');
    await page.waitForURL('**/deliveries?view=targets&failing=true');
    await page.reload();
    await targetsIn('failing').waitFor();
    expect(await targetsIn('ok').count()).toBe(0);
    await targetsIn('failing').getByRole('link', { name: '127.0.0.1' }).click();
    await page.waitForURL('**/deliveries?target_id=*');
    await rowOf(page, 'late').waitFor();
    expect(await rowOf(page, 'lost').count()).toBe(0);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    await publish('looked-at', '/gone');
    const { page } = await dashboard.open(look);
    await open(page, '?view=targets');
    await page.getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    const { body } = await dashboard.app.http.get('/api/v1/webhooks/deliveries?correlation_id=looked-at').expect(200);
    await open(page, `?delivery=${body.items[0].delivery_id}`);
    await page.getByText('answered 410', { exact: true }).waitFor();
    await page.getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
