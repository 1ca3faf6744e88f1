// Opens the web app of the application in a real browser.
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } }, examples: [{ n: 4 }] } }
agents:
  divider:
    description: Divides 12 by a number
    consumes: [{ types: [Order] }, { types: [Order, Rule] }, { types: [Note, Hint], mode: any }]
    publishes: [{ type: Quotient }]
    retry: { attempts: 1 }
    engine: { kind: function, module: ./divider.ts }
`;

const FILES = {
  'divider.ts': `export default ([{ payload: { n } }]: [{ payload: { n: number } }]) => {
    if (n === 0) throw new Error('there is no result for 0');
    return { q: 12 / n };
  };`,
};

describeDashboard('the view Agent', { config: CONFIG, files: FILES }, (dashboard) => {
  it('says what the agent consumes and publishes, and runs it on the example of its type', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents/divider`);
    for (const text of ['each Order', 'Order and Rule, joined', 'each Note or Hint', 'It has not run yet'])
      await page.getByText(text).first().waitFor();
    await page.getByText('1 process, with 0 running executions').waitFor();
    await page.getByRole('button', { name: 'Run the agent' }).click();
    await page.getByRole('region', { name: 'payload of Quotient' }).getByText('"q": 3').waitFor();
    await page.getByText('completed').first().waitFor();
    await page.getByText('1 ended execution').waitFor();
    await page.getByLabel('Inputs').selectOption('Order and Rule');
    await page.getByLabel('Rule', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows why it failed', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents/divider`);
    await page.getByLabel('Order', { exact: true }).fill('{"n": 0}');
    await page.getByLabel('Order', { exact: true }).press('Control+Enter');
    await page.getByRole('alert').filter({ hasText: 'Agent divider failed' }).waitFor();
    const failures = page.getByRole('region', { name: 'Newest failures' });
    await failures.getByText('failed', { exact: true }).first().waitFor();
    await failures.getByText('there is no result for 0').waitFor();
  });

  it('says that the agent does not exist', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents/dividr`);
    await page.getByText('No agent is called dividr').waitFor();
    await page.getByRole('link', { name: 'See the agents of the configuration' }).click();
    await page.getByRole('row').filter({ hasText: 'divider' }).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/agents/divider`);
    await page.getByRole('button', { name: 'Run the agent' }).click();
    await page.getByRole('region', { name: 'payload of Quotient' }).waitFor();
    await page.getByText('ended execution').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
