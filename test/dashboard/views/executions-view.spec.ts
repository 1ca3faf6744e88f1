// Opens the web app of the application in a real browser.
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
  Question: { schema: { type: object } }
  CallOff: { schema: { type: object } }
  Parcel: { schema: { type: object } }
agents:
  answerer:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    cache: { for: 1h }
    engine: { kind: expression, expression: "{'n': 1}" }
  packer:
    consumes: [{ types: [Parcel] }]
    cancel_on: { types: [CallOff], key: "'all'" }
    engine: { kind: external }
  sender:
    consumes: [{ types: [Mail] }]
    singleton: { key: "'all'", on_conflict: skip }
    engine: { kind: external }
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  divider:
    consumes: [{ types: [Order], where: payload.n == 0 }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: '{"n": 1 / payload.n}' }
    retry: { attempts: 2, delay: 10ms }
`;

interface Execution {
  id: string;
  cached_from?: string;
  cancelled_by?: string;
  skipped_for?: string;
}

describeDashboard('the view Executions', { config: CONFIG }, (dashboard) => {
  const publish = async (n: number): Promise<unknown> =>
    dashboard.app.http.post('/api/v1/artifacts/sync').send({ type: 'Order', payload: { n } }).expect(200);

  it('says what to do if there is nothing, and then shows new executions', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/executions`);
    await page.getByText('No agent has run yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await publish(1);
    await page.getByRole('row').filter({ hasText: 'echo' }).filter({ hasText: 'completed' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('filters in the URL, shows the attempts of one, and retries it after a question', async () => {
    const { page } = await dashboard.open();
    await publish(0);
    await page.goto(`${dashboard.app.url}/dashboard/executions`);
    await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
    await page.waitForURL('**/executions?state=failed');
    await page.getByRole('button', { name: 'divider' }).first().click();
    await page.waitForURL('**/executions?state=failed&execution=*');
    await page.reload();
    const panel = page.getByRole('complementary', { name: 'Execution' });
    await panel.getByRole('heading', { name: 'Attempts' }).waitFor();
    expect(await panel.getByRole('listitem').filter({ hasText: 'took' }).count()).toBe(2);
    await panel.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 execution' }).click();
    await panel.getByText('2 of retry 1').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('echo');
    await page.getByText('No execution matches these filters').waitFor();
  });

  it('names the execution whose answer one took or for which one was skipped, and the artifact that cancelled one', async () => {
    const { http, url } = dashboard.app;
    const send = async (type: string, how = ''): Promise<void> =>
      void (await http.post(`/api/v1/artifacts${how}`).send({ type, payload: {} }).expect(200));
    const executions = async (agent: string, state: string): Promise<Execution[]> =>
      ((await http.get(`/api/v1/executions?agent=${agent}&state=${state}`).expect(200)).body as { items: Execution[] })
        .items;
    await send('Question', '/sync');
    await send('Question', '/sync');
    await send('Parcel');
    await send('CallOff');
    await send('Mail');
    await send('Mail');
    await eventually('the parcel is called off', async () => (await executions('packer', 'cancelled')).length === 1);
    const { page } = await dashboard.open();
    const panel = page.getByRole('complementary', { name: 'Execution' });
    const [cached] = (await executions('answerer', 'completed')).filter(({ cached_from }) => cached_from !== undefined);
    await page.goto(`${url}/dashboard/executions?execution=${cached!.id}`);
    await panel.getByText('Answer of').waitFor();
    await panel.locator(`a[href$="execution=${cached!.cached_from}"]`).click();
    await page.waitForURL(`**/executions?execution=${cached!.cached_from}`);
    const [cancelled] = await executions('packer', 'cancelled');
    await page.goto(`${url}/dashboard/executions?execution=${cancelled!.id}`);
    await panel.getByText('Cancelled by').waitFor();
    await panel.locator(`a[href$="/artifacts/${cancelled!.cancelled_by}"]`).waitFor();
    const [skipped] = await executions('sender', 'cancelled');
    await page.goto(`${url}/dashboard/executions?execution=${skipped!.id}`);
    await panel.getByText('Skipped for').waitFor();
    await panel.locator(`a[href$="execution=${skipped!.skipped_for}"]`).waitFor();
  });

  it("shows the server's answer if the execution is missing", async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/executions?execution=missing`);
    await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await publish(0);
    const { body } = await dashboard.app.http.get('/api/v1/executions?state=failed').expect(200);
    await page.goto(`${dashboard.app.url}/dashboard/executions?execution=${body.items[0].id}`);
    await page.getByRole('heading', { name: 'Attempts' }).waitFor();
    await page.getByRole('row').nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
