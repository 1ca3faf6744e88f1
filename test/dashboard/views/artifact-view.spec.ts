// Opens the web app of the application in a real browser.
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  large:
    consumes: [{ types: [Order], where: payload.n > 100.0 }]
    publishes: [{ type: Large }]
    engine: { kind: expression, expression: '{"n": 1}' }
  matcher:
    consumes: [{ types: [Order, Rule] }]
    cancel_on: { types: [Order], key: artifact.payload.missing }
    publishes: [{ type: Match }]
    engine: { kind: expression, expression: '{"n": 2}' }
`;

describeDashboard('the view Artifact', { config: CONFIG }, (dashboard) => {
  let ids: Record<string, string>;

  beforeAll(async () => {
    const payload = { n: 1, address: { city: 'Paris', lines: ['first floor', 'second door'] } };
    const publish = async (n: number): Promise<unknown> =>
      dashboard.app.http
        .post('/api/v1/artifacts/sync')
        .set('X-Correlation-ID', 'order-1')
        .send({ type: 'Order', payload: { ...payload, n }, timeout: 10 })
        .expect(200);
    await publish(0);
    await publish(1);
    const { body } = await dashboard.app.http.get('/api/v1/artifacts?correlation_id=order-1&order=asc').expect(200);
    ids = Object.fromEntries(
      (body.items as { type: string; id: string; payload: { n: number } }[]).map(({ type, id, payload: { n } }) => [
        `${type} ${n}`,
        id,
      ]),
    );
  });

  it('says what each subscription did with it, and why', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/artifacts/${ids['Order 1']}`);
    await page.getByText('A client published it.').waitFor();
    const row = (agent: string) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name: agent }) });
    await row('echo').getByText('It triggered the agent').waitFor();
    await row('echo').getByText('completed', { exact: true }).waitFor();
    await row('large').getByText('where false', { exact: true }).waitFor();
    await row('matcher').getByText('waits for Rule', { exact: true }).waitFor();
    await row('matcher').getByText('cancel_on.key fails').waitFor();
    await page.getByLabel('Subscriptions').selectOption('waits');
    await row('large').waitFor({ state: 'detached' });
    await page.waitForURL('**?show=waits');
    expect(complaints).toEqual([]);
  });

  it('says which execution an artifact came from, and on which inputs', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/artifacts/${ids['Echo 1']}`);
    const origin = page.getByRole('region', { name: 'Where it came from' });
    await origin.getByText('echo published it in the execution').waitFor();
    await origin.getByRole('region', { name: 'payload of Order' }).getByText('"n": 1').waitFor();
    await origin.getByRole('link', { name: 'Order' }).click();
    await page.waitForURL(`**/artifacts/${ids['Order 1']}`);
  });

  it('finds a text in the payload and opens the branches that have it', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/artifacts/${ids['Order 1']}`);
    const payload = page.getByRole('region', { name: 'Payload', exact: true });
    await payload.getByText('"Paris"').waitFor();
    expect(await payload.getByText('"second door"').isVisible()).toBe(false);
    await payload.getByLabel('Find in the payload').fill('SECOND');
    await payload.getByLabel('Find in the payload').press('Enter');
    await payload.getByText('"second door"').waitFor();
    await payload.getByText('"Paris"').waitFor({ state: 'detached' });
    await payload.getByLabel('Find in the payload').fill('third');
    await payload.getByLabel('Find in the payload').press('Enter');
    await payload.getByText('Nothing here contains this text.').waitFor();
  });

  it('says that the artifact does not exist', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/artifacts/00000000-0000-7000-8000-000000000000`);
    await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/artifacts/${ids['Echo 1']}`);
    await page.getByRole('region', { name: 'payload of Order' }).waitFor();
    await page.getByRole('heading', { name: /Not consumed by/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
