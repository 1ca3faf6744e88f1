// Opens the web app of the application in a real browser.
import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  printer:
    consumes: [{ types: [Order] }]
    engine: { kind: function, module: ./printer.ts }
  divider:
    consumes: [{ types: [Order] }]
    engine: { kind: function, module: ./divider.ts }
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

const FILES = {
  'printer.ts': `export default ([{ payload }]) => { throw new Error('tray ' + payload.n + ' is empty'); };`,
  'divider.ts': `export default () => { throw new Error('zero has no inverse'); };`,
};

describeDashboard('failures in groups', { config: CONFIG, files: FILES }, (dashboard) => {
  /** Publishes an order, and waits until both of its executions that fail have failed. */
  const publish = async (n: number): Promise<void> => {
    const { http } = dashboard.app;
    const { headers } = await http.post('/api/v1/artifacts').send({ type: 'Order', payload: { n } }).expect(200);
    const query = { state: 'failed', correlation_id: headers['x-correlation-id'] as string };
    await eventually('both have failed', async () => {
      const { body } = await http.get('/api/v1/executions').query(query).expect(200);
      return (body.items as unknown[]).length === 2;
    });
  };

  const open = async (page: Page, query: string): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard/executions${query}`);
    await page.getByText('Live', { exact: true }).waitFor();
  };

  const rowOf = (page: Page, agent: string) => page.getByRole('row').filter({ hasText: agent });

  it('says that nothing has failed, and then shows failures with one message as one row', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page, '');
    await page.getByRole('button', { name: 'Failures in groups' }).click();
    await page.waitForURL('**/executions?view=failures');
    await page.getByText('No execution has failed').waitFor();
    await publish(1);
    await publish(2);
    await rowOf(page, 'printer').getByText('tray <number> is empty').waitFor();
    await rowOf(page, 'printer').getByText('2', { exact: true }).waitFor();

    // The button that shows what is new may cover a row while the list has the focus.
    await page.reload();
    await rowOf(page, 'printer').getByRole('button', { name: 'Show one of' }).click();
    const panel = page.getByRole('complementary', { name: 'Execution' });
    await panel.getByText('tray 2 is empty').first().waitFor();
    await page.getByRole('link', { name: 'tray <number> is empty' }).click();
    await page.waitForURL('**/executions?failure_group=*');
    await rowOf(page, 'printer').filter({ hasText: 'tray 1 is empty' }).waitFor();
    expect(await rowOf(page, 'divider').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('keeps its filters over a reload, and says if they leave nothing', async () => {
    const { page } = await dashboard.open();
    await publish(3);
    await open(page, '?view=failures');
    await page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('divider');
    await page.waitForURL('**/executions?view=failures&agent=divider');
    await page.reload();
    await rowOf(page, 'divider').waitFor();
    expect(await rowOf(page, 'printer').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Error type' }).fill('timeout');
    await page.getByRole('textbox', { name: 'Error type' }).press('Enter');
    await page.getByText('No failure matches these filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await page.waitForURL('**/executions?view=failures');
    await rowOf(page, 'printer').waitFor();
  });

  it('retries a group after a question that says how many, and shows how far it is', async () => {
    const { page } = await dashboard.open();
    await publish(4);
    await open(page, '?view=failures');
    const { body: before } = await dashboard.app.http.get('/api/v1/executions/failures?agent=divider').expect(200);
    const { count } = before.items[0] as { count: number };
    await rowOf(page, 'divider').getByRole('button', { name: 'Retry the group zero has no inverse' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry these executions?' });
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await rowOf(page, 'divider').getByRole('button', { name: 'Retry the group zero has no inverse' }).click();
    await dialog.getByRole('button', { name: new RegExp(`^Retry ${count} executions?$`) }).click();
    await page.waitForURL(/operation=/);
    const operation = page.getByRole('region', { name: 'Operation' });
    await operation.getByText('completed').waitFor();
    await operation.getByText(new RegExp(`^${count} of ${count} executions? retried$`)).waitFor();
    await page.reload();
    await operation.getByText('completed').waitFor();
    await operation.getByRole('button', { name: 'Close the operation' }).click();
    await operation.waitFor({ state: 'hidden' });
    const { body } = await dashboard.app.http.get('/api/v1/executions?agent=divider').expect(200);
    expect(body.items.map(({ round }: { round: number }) => round)).toContain(1);
  });

  it('retries what the filters of the list match, if an operation takes them', async () => {
    const { page } = await dashboard.open();
    await publish(5);
    await open(page, '?state=failed');
    await rowOf(page, 'printer').first().waitFor();
    expect(await page.getByRole('button', { name: 'Retry all' }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('printer');
    await page.getByRole('button', { name: 'Retry all' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Retry \d+ executions?$/ })
      .click();
    await page.getByRole('region', { name: 'Operation' }).getByText('Retry of failed executions of printer').waitFor();
    await page.getByRole('textbox', { name: 'Assignee' }).fill('ada');
    await page.getByRole('textbox', { name: 'Assignee' }).press('Enter');
    await page.getByText('No execution matches these filters').waitFor();
    expect(await page.getByRole('button', { name: 'Retry all' }).count()).toBe(0);
  });

  it('fails what waits and matches the filters, after a question that says how many', async () => {
    const { page } = await dashboard.open();
    await publish(6);
    await open(page, '?state=pending&agent=approver');
    const { body } = await dashboard.app.http.get('/api/v1/executions?state=pending&agent=approver').expect(200);
    const count = (body.items as unknown[]).length;
    await page.getByRole('button', { name: 'Fail all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fail these executions?' });
    await dialog.getByRole('button', { name: `Fail ${count} execution` }).click();
    await page.getByRole('region', { name: 'Operation' }).getByText('completed').waitFor();
    await page.getByText('No execution matches these filters').waitFor();
  });

  it("shows the server's answer if the operation is missing", async () => {
    const { page } = await dashboard.open();
    await open(page, '?operation=missing');
    await page.getByRole('region', { name: 'Operation' }).getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await publish(7);
    const { body } = await dashboard.app.http
      .post('/api/v1/executions/retry')
      .send({ agent: 'divider', error_type: 'Error' })
      .expect(200);
    await open(page, `?view=failures&operation=${body.operation_id}`);
    await page.getByRole('region', { name: 'Operation' }).getByText('completed').waitFor();
    await rowOf(page, 'tray <number> is empty').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: 'Retry the group tray' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Retry \d+ execution/ })
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

describeDashboard(
  'operations while too much work waits',
  { config: CONFIG, files: FILES, settings: { maxPendingExecutions: 2 } },
  (dashboard) => {
    it('shows that an operation waits, and cancels it', async () => {
      const { http } = dashboard.app;
      // Two executions for people reach the limit, and the failed ones wait with their retry until there is room.
      for (const n of [1, 2]) {
        await http.post('/api/v1/artifacts').send({ type: 'Order', payload: { n } }).expect(200);
        await eventually('both have failed', async () => {
          const { body } = await http.get('/api/v1/executions?state=failed').expect(200);
          return (body.items as unknown[]).length === 2 * n;
        });
      }
      const { body } = await http.post('/api/v1/executions/retry').send({ agent: 'printer' }).expect(200);
      const { page } = await dashboard.open();
      await page.goto(`${dashboard.app.url}/dashboard/executions?operation=${body.operation_id}`);
      const operation = page.getByRole('region', { name: 'Operation' });
      await operation.getByText('0 of 2 executions retried').waitFor();
      await operation.getByText('running').waitFor();
      await operation.getByRole('button', { name: 'Cancel' }).click();
      await operation.getByText('cancelled').waitFor();
      expect(await operation.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    });
  },
);
