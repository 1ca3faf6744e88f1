// Opens the web app of the application in a real browser, and looks at experiments.
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Message: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Intent: { schema: { type: object, required: [intent], properties: { intent: { type: string } } } }
agents:
  classifier:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("card") ? "card" : "other"}' }
  person:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: external }
`;

const CSV = 'text,label\nmy card is lost,card\nthe cat sat,other\na coin,other\n';

const request = (more: object = {}) => ({
  name: 'all are cards',
  data: { csv: CSV, agent: 'classifier' },
  expected: { column: 'label' },
  output: 'Intent',
  variants: [{ name: 'now' }, { name: 'cards', overrides: { classifier: { expression: '{"intent": "card"}' } } }],
  scorers: [
    { name: 'accuracy', kind: 'equals', path: '/intent' },
    { name: 'length', kind: 'cel', expression: 'size(output.intent)' },
  ],
  ...more,
});

describeDashboard('the views of experiments', { config: CONFIG }, (dashboard) => {
  const start = async (body: object): Promise<string> =>
    (await dashboard.app.http.post('/api/v1/experiments').send(body).expect(200)).body.experiment_id;
  const stateOf = async (id: string): Promise<string> =>
    (await dashboard.app.http.get(`/api/v1/experiments/${id}`).expect(200)).body.state;
  let ended: string;

  beforeAll(async () => {
    ended = await start(request());
    await eventually('the experiment has ended', async () => (await stateOf(ended)) === 'completed');
  });

  it('lead from the list to the comparison, the scores, the changed rows and Compare', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/experiments`);
    const listed = page.getByRole('table', { name: 'Experiments' }).getByRole('row', { name: /all are cards/ });
    await listed.getByText('completed').waitFor();
    await listed.getByRole('link', { name: 'all are cards' }).click();
    await page.getByRole('heading', { level: 1, name: 'all are cards' }).waitFor();
    await page.getByText('6 of 6 trials').waitFor();

    const cellsOf = (table: string, row: RegExp): Promise<string[]> =>
      page
        .getByRole('table', { name: table, exact: true })
        .getByRole('row', { name: row })
        .getByRole('cell')
        .allInnerTexts();
    expect((await cellsOf('Comparison', /accuracy/)).slice(0, 4)).toEqual([
      'accuracy',
      'cards',
      expect.stringMatching(/undecided/),
      '-0.667',
    ]);
    expect((await cellsOf('Comparison', /accuracy/)).slice(5)).toEqual([
      '0',
      '2',
      '1',
      expect.stringMatching(/^0\.5\s+exact McNemar test$/),
    ]);
    expect(await cellsOf('Scores', /accuracy now/)).toEqual(['accuracy', 'now', '3', '0', '1', '1', '1']);
    const changes = expect.stringContaining('{"overrides":{"classifier":') as string;
    expect((await cellsOf('Variants', /cards/)).slice(0, 5)).toEqual(['cards', changes, '3', '0', '2']);
    expect(await cellsOf('Distribution of accuracy', /^0 to/)).toEqual(['0 to 0.05', '0', '2']);
    expect(await cellsOf('Distribution of accuracy', /to 1/)).toEqual(['0.95 to 1', '3', '1']);
    await page.getByRole('combobox', { name: 'Scorer' }).selectOption('length');
    await page.getByRole('table', { name: 'Distribution of length' }).waitFor();

    const rows = page.getByRole('table', { name: 'Rows' }).getByRole('row');
    await eventually('the two rows that have changed are shown', async () => (await rows.count()) === 3);
    expect(await rows.nth(1).innerText()).toMatch(/"other"[\s\S]*5[\s\S]*"card"[\s\S]*4/);
    await page.getByRole('button', { name: 'All rows' }).click();
    await eventually('all rows are shown', async () => (await rows.count()) === 4);
    await page.getByRole('link', { name: 'Compare row 1' }).click();
    const pairs = page.getByRole('list', { name: 'Pairs' }).getByRole('listitem');
    const changed = pairs.filter({ hasText: 'by classifier' });
    await changed.getByText('/intent').waitFor();
    expect(await changed.innerText()).toMatch(/"other"\s+"card"/);

    await page.getByRole('region', { name: 'Right' }).getByRole('link').click();
    const origin = page.getByRole('listitem').filter({ hasText: 'a trial of the experiment' });
    await page.getByText('with changes of classifier').waitFor();
    await origin.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'all are cards' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('open a pair of other variants than the first two', async () => {
    const { http, url } = dashboard.app;
    const more = { name: 'others', overrides: { classifier: { expression: '{"intent": "other"}' } } };
    const id = await start(request({ name: 'three variants', variants: [...request().variants, more] }));
    await eventually('the experiment has ended', async () => (await stateOf(id)) === 'completed');
    const { page, complaints } = await dashboard.open();
    await page.goto(`${url}/dashboard/experiments/${id}`);
    const rows = page.getByRole('table', { name: 'Rows' });
    await rows.getByRole('columnheader', { name: 'Output of cards' }).waitFor();
    await page.getByRole('combobox', { name: 'Right' }).selectOption('others');
    await page.waitForURL('**?right=others');
    await rows.getByRole('columnheader', { name: 'Output of others' }).waitFor();
    expect(await rows.getByRole('columnheader', { name: 'Output of cards' }).count()).toBe(0);
    expect(await rows.getByRole('row').nth(1).innerText()).toMatch(/"card"\}\s+1\s+\S*"other"\}\s+0$/);
    await page.getByRole('link', { name: 'Compare row 0' }).click();
    const pairs = page.getByRole('list', { name: 'Pairs' }).getByRole('listitem');
    const changed = pairs.filter({ hasText: 'by classifier' });
    await changed.getByText('/intent').waitFor();
    expect(await changed.innerText()).toMatch(/"card"\s+"other"/);

    const { body } = await http.get(`/api/v1/experiments/${id}/rows`).expect(200);
    const { trials } = (body as { items: { trials: { variant: string; correlation_id: string }[] }[] }).items[0]!;
    const opened = new URL(page.url()).searchParams;
    expect(['left', 'right'].map((side) => opened.get(side))).toEqual(
      ['now', 'others'].map((name) => trials.find(({ variant }) => variant === name)!.correlation_id),
    );
    expect(complaints).toEqual([]);
  });

  it('follow an experiment that runs, and cancel it after a question', async () => {
    const id = await start(
      request({
        name: 'waits for people',
        mode: 'full',
        variants: [{ name: 'now' }, { name: 'a person', agent: 'person' }],
        max_workers: 1,
      }),
    );
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/experiments/${id}`);
    // The trial of the person waits, and all others of this variant behind it.
    await page.getByText(/[1-3] of 6 trials/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this experiment?' });
    await dialog.getByText(/trials will not end/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    expect(await stateOf(id)).toBe('running');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByRole('button', { name: 'Cancel the experiment' }).click();
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    expect(await stateOf(id)).toBe('cancelled');
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  it('say which experiment does not exist', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/experiments/unknown`);
    await page.getByRole('alert').getByText('Experiment not found: unknown').waitFor();
  });

  it.each(LOOKS)('have no faults of accessibility: $colorScheme, $width px', async (look) => {
    const { page, complaints } = await dashboard.open(look);
    for (const path of ['experiments', `experiments/${ended}`]) {
      await page.goto(`${dashboard.app.url}/dashboard/${path}`);
      await page.getByText('all are cards').first().waitFor();
      await page.locator('main [data-loading]').first().waitFor({ state: 'detached' });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
    }
    expect(complaints).toEqual([]);
  });
});
