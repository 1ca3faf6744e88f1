// Opens the web app of the application in a real browser.
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Echo: {}
  Order:
    description: What a customer wants.
    schema:
      type: object
      required: [n, to]
      properties:
        n: { type: integer, minimum: 7 }
        to: { $ref: '#/$defs/address' }
      $defs:
        address: { type: object, properties: { city: { enum: [Paris, Rome] } } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
`;

describeDashboard('the view Publish', { config: CONFIG }, (dashboard) => {
  it('publishes the example of the type that begins the workflow, waits, and shows what the agents made of it', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/publish?as=json`);
    expect(await page.getByRole('combobox', { name: 'Type', exact: true }).inputValue()).toBe('Order');
    expect(JSON.parse(await page.getByLabel('Payload', { exact: true }).inputValue())).toEqual({
      n: 7,
      to: { city: 'Paris' },
    });
    await page.getByLabel('Payload', { exact: true }).press('Control+Enter');
    await page.getByText('The agents completed the work in').waitFor();
    await page.getByRole('region', { name: 'payload of Echo' }).getByText('"n": 7').waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'payload of Echo' }).waitFor();
    await page.getByRole('link', { name: '2 artifacts' }).click();
    await page.getByRole('row').nth(2).waitFor();
    expect(complaints).toEqual([]);
  });

  it('publishes without waiting, with what the fields and the URL say', async () => {
    const { page } = await dashboard.open();
    await page.goto(
      `${dashboard.app.url}/dashboard/publish?as=json&type=Order&wait=no&correlation_id=from-the-page&tag=vip&visibility=Private&agent=echo`,
    );
    await page.getByLabel('Payload', { exact: true }).fill('{"n": 9, "to": {}}');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('region', { name: 'payload of Echo' }).getByText('"n": 9').waitFor();
    const { body } = await dashboard.app.http
      .get('/api/v1/artifacts?correlation_id=from-the-page&type=Order')
      .expect(200);
    expect(body.items).toEqual([
      expect.objectContaining({
        payload: { n: 9, to: {} },
        tags: ['vip'],
        visibility: { kind: 'Private', agents: ['echo'] },
      }),
    ]);
  });

  it('says what is wrong with the payload, by itself and in the words of the service', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/publish?as=json&type=Order`);
    await page.getByLabel('Payload', { exact: true }).fill('{"n": 1,');
    await page.getByText('This is not JSON').waitFor();
    expect(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('Payload', { exact: true }).fill('{"n": 1, "to": {}}');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'payload.n: must be >= 7' }).waitFor();
    await page.getByRole('button', { name: 'Fill in the example' }).click();
    expect(await page.getByLabel('Payload', { exact: true }).inputValue()).toContain('"n": 7');
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/publish`);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('region', { name: 'payload of Echo' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
