// Opens each view of the web app in a real browser on a service that has nothing yet, and the command palette.
import { accessibilityFaults, describeDashboard, LOOKS } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { item: { type: string } } } }
agents:
  packer:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Parcel }]
    engine: { kind: expression, expression: "{'item': payload.item}" }
`;

/** The first step that each view names, and its link to where that is done. */
const EMPTY: { path: string; text: string; link?: string }[] = [
  { path: '', text: 'No agent has run in this time.', link: 'Publish an example' },
  { path: '/correlations', text: 'Nothing has been published yet', link: 'Publish an example' },
  { path: '/artifacts', text: 'The board is empty', link: 'Publish an example' },
  { path: '/agents/packer', text: 'It has not run yet. Run it with an input, or publish one.' },
  { path: '/executions', text: 'No agent has run yet', link: 'Publish an example' },
  { path: '/executions?view=failures', text: 'No execution has failed' },
  { path: '/waiting', text: 'No join and no batch window waits', link: 'Publish an example' },
  { path: '/limits', text: 'No limit is configured' },
  { path: '/schedules', text: 'No schedules yet' },
  { path: '/inbox', text: 'Nothing waits for you' },
  { path: '/batches', text: 'No batch has been started yet', link: 'Start one' },
  { path: '/experiments', text: 'No experiment has been started yet' },
  { path: '/deliveries', text: 'No webhook has been sent yet' },
  { path: '/deliveries?view=targets', text: 'No webhook has a target yet' },
  { path: '/compare', text: 'Choose two correlations' },
  { path: '/changelog', text: 'Nothing has been published yet', link: 'Publish an example' },
  { path: '/artifacts/00000000-0000-7000-8000-000000000000', text: 'Artifact not found' },
  { path: '/agents/unknown', text: 'No agent is called unknown', link: 'See the agents of the configuration' },
  { path: '/nothing', text: 'This view does not exist', link: 'Go to the first view' },
];

describeDashboard('the web app of a new service', { config: CONFIG }, (dashboard) => {
  it.each(EMPTY)('says what to do first, at /dashboard$path', async ({ path, text, link }) => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    const main = page.locator('main');
    await main.getByText(text).waitFor();
    if (link !== undefined) expect(await main.getByRole('link', { name: link }).first().isVisible()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it.each(LOOKS)('has a palette without faults of accessibility: $colorScheme, $width px', async (look) => {
    const { page, complaints } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'View, agent, type or id' });
    await field.fill('pack');
    await page.getByRole('option', { name: 'packer' }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await field.fill('there is nothing with this name');
    await page.getByText('Nothing has this name or id.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
