// Opens the web app of the application in a real browser. The model server is a stand-in.
import type { Page } from 'playwright-core';

import type { TestAppOptions } from '../../support/app.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { eventually } from '../../support/eventually.js';
import { ModelServer } from '../../support/model-server.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  broken:
    consumes: [{ types: [Order], where: payload.n == 13 }]
    retry: { attempts: 2, delay: 10ms }
    engine: { kind: function, module: ./broken.ts }
  approver:
    consumes: [{ types: [Echo], where: payload.n == 7 }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

const FILES = { 'broken.ts': `export default () => { throw new Error('the printer is on fire'); };` };

const CANDIDATE = `
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: function, module: ./louder.mjs }
`;

const folder = new ConfigurationFolder();

async function options(): Promise<TestAppOptions> {
  folder.write('louder.mjs', 'export default async ([{ payload }]) => ({ n: payload.n * 100 });');
  const replayConfigs = [{ name: 'candidate', file: folder.write('candidate.yaml', CANDIDATE) }];
  return { config: CONFIG, files: FILES, settings: { replayConfigs } };
}

describeDashboard('the view of a correlation', options, (dashboard) => {
  afterAll(() => folder.remove());

  const publish = (correlation: string, n: number): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Order', payload: { n } })
      .expect(200);

  const stateOf = async (correlation: string): Promise<string> =>
    (await dashboard.app.http.get(`/api/v1/correlations/${correlation}/status`)).body.state;

  const open = async (correlation: string): Promise<Page> => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/correlations/${correlation}`);
    await page.getByRole('list', { name: 'Timeline' }).waitFor();
    return page;
  };

  it('has a row for each execution, and follows what happens', async () => {
    await publish('order-7', 7);
    const page = await open('order-7');
    const rows = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await rows.filter({ hasText: 'approver' }).getByRole('img', { name: 'pending' }).waitFor();
    expect((await rows.allInnerTexts()).map((text) => text.trim())).toEqual(['Order', 'echo', 'approver']);

    const waits = page.getByRole('region', { name: 'Waits for' });
    await waits.getByText('approver, which a person or a worker has to claim').waitFor();

    const { body: list } = await dashboard.app.http.get('/api/v1/executions?agent=approver&state=pending');
    const { id } = list.items[0];
    const claimed = await dashboard.app.http
      .post(`/api/v1/executions/${id}/claim`)
      .send({ claimed_by: 'ada' })
      .expect(200);
    await rows.filter({ hasText: 'approver' }).getByRole('img', { name: 'running' }).waitFor();
    await waits.getByText('approver, which ada has claimed until').waitFor();
    await dashboard.app.http
      .post(`/api/v1/executions/${id}/complete`)
      .send({ lease_token: claimed.body.lease_token, outputs: [{ type: 'Approval', payload: {} }] })
      .expect(200);
    await rows.filter({ hasText: 'approver' }).getByRole('img', { name: 'completed' }).waitFor();
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
    expect(await waits.count()).toBe(0);
    await page.context().close();
  });

  it('shows the attempts of the selected execution with their errors, which the URL keeps, and retries it', async () => {
    await publish('order-13', 13);
    const page = await open('order-13');
    await page.getByRole('button', { name: 'broken' }).click();
    const details = page.getByRole('complementary', { name: 'Selection' });
    await details.getByText('the printer is on fire').first().waitFor();
    await page.waitForURL('**/order-13?selected=*');
    await page.reload();
    await details.getByText('failed', { exact: true }).waitFor();
    // That of the execution, and one of each attempt.
    const errors = details.getByText('Error: the printer is on fire', { exact: true });
    await eventually('all errors are shown', async () => (await errors.count()) === 3);

    await details.getByRole('button', { name: 'Retry' }).click();
    await details.getByText('after retry 1').nth(1).waitFor();
    // Both attempts have failed when it can be retried again. Before, the question would count no failed execution.
    await details.getByRole('button', { name: 'Retry' }).waitFor();
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByRole('dialog').getByText('All failed executions of this correlation run again').waitFor();
    await page.getByRole('button', { name: 'Retry 1 execution', exact: true }).click();
    await details.getByText('after retry 2').first().waitFor();
    await page.waitForURL('**/order-13?*operation=*');
    const operation = page.getByRole('region', { name: 'Operation' });
    await operation.getByText('1 of 1 execution retried').waitFor();
    await operation.getByRole('button', { name: 'Close the operation' }).click();
    await operation.waitFor({ state: 'hidden' });
    await page.context().close();
  });

  it('asks before it cancels, and says how much that ends', async () => {
    await publish('order-to-cancel', 7);
    const page = await open('order-to-cancel');
    await page.getByRole('button', { name: 'approver' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this correlation?' });
    await dialog.getByText('1 execution of it is pending or running').waitFor();
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    expect(await stateOf('order-to-cancel')).toBe('active');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByRole('button', { name: 'Cancel the correlation' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('cancelled').waitFor();
    expect(await stateOf('order-to-cancel')).toBe('cancelled');
    await page.context().close();
  });

  /** Opens a correlation that has ended, and replays it in its view. Returns the id of the replay. */
  const replay = async (page: Page, correlation: string, mode: string, about: string): Promise<string> => {
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this correlation?' });
    await dialog.getByRole('combobox', { name: 'Mode' }).selectOption(mode);
    await dialog.getByText(about).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the replay' }).click();
    await page.waitForURL(({ pathname }) => !pathname.endsWith(`/${correlation}`));
    await page.getByText(`${mode} replay of`).getByRole('link', { name: correlation }).waitFor();
    return new URL(page.url()).pathname.split('/').at(-1)!;
  };

  it.each([
    ['recorded', 'Agents whose definition has not changed answer from the record'],
    ['shadow', 'they answer from the record, or their branch ends with the reason'],
    ['full', 'models are called and cost money'],
  ])('replays it with the mode %s, goes to the replay, and compares both', async (mode, about) => {
    const original = `order-${mode}`;
    await publish(original, 1);
    await eventually('it has ended', async () => (await stateOf(original)) === 'completed');
    const page = await open(original);
    const id = await replay(page, original, mode, about);
    // The page shows the state of the original until it has read the replay.
    await eventually('the replay has ended', async () => (await stateOf(id)) === 'completed');
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
    expect(await page.getByRole('link', { name: 'Publish into it' }).count()).toBe(0);
    const { body } = await dashboard.app.http.get(`/api/v1/correlations/${id}/status`).expect(200);
    expect(body).toMatchObject({ origin: original, replay_mode: mode, artifact_count: 2 });

    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('2 pairs, 0 only left, 0 only right').waitFor();
    await page.getByText('All artifacts are equal').waitFor();
    await page.context().close();
  });

  it('changes an agent for a replay, says what is wrong with the change, and compares', async () => {
    await publish('order-to-change', 1);
    await eventually('it has ended', async () => (await stateOf('order-to-change')) === 'completed');
    const page = await open('order-to-change');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this correlation?' });
    const agents = dialog.getByRole('combobox', { name: 'Change an agent for this replay' });
    await agents.selectOption('echo');
    const expression = dialog.getByRole('group', { name: 'echo' }).getByLabel('Expression');
    await eventually('its expression is shown', async () => (await expression.inputValue()) === '{"n": payload.n}');
    expect(await agents.count()).toBe(0);
    await expression.fill('{"n": paylod.n}');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the replay' }).click();
    await dialog.getByRole('alert').getByText('overrides.echo.expression: ').waitFor();
    await dialog.getByRole('button', { name: 'Leave echo as it is' }).click();
    await agents.selectOption('echo');
    await expression.fill('{"n": 11}');
    await dialog.getByRole('button', { name: 'Start the replay' }).click();
    await page.waitForURL(({ pathname }) => !pathname.endsWith('/order-to-change'));
    await page.getByText('with changes of echo').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await eventually('the replay has ended', async () => (await stateOf(id)) === 'completed');
    await page.getByRole('link', { name: 'Compare' }).click();
    const changed = page.getByRole('list', { name: 'Pairs' }).getByRole('listitem').filter({ hasText: 'by echo' });
    await changed.getByText('/n').waitFor();
    expect(await changed.innerText()).toMatch(/1\s+11/);
    await page.context().close();
  });

  it('takes agents from another configuration for a replay, which has nothing to change then', async () => {
    await publish('order-for-candidate', 1);
    await eventually('it has ended', async () => (await stateOf('order-for-candidate')) === 'completed');
    const page = await open('order-for-candidate');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this correlation?' });
    const agents = dialog.getByRole('combobox', { name: 'Change an agent for this replay' });
    await agents.selectOption('echo');
    const edited = dialog.getByRole('group', { name: 'echo' });
    await edited.getByLabel('Expression').fill('{"n": 11}');
    const configurations = dialog.getByRole('combobox', { name: 'Configuration' });
    expect(await configurations.locator('option').allInnerTexts()).toEqual(['that of the service', 'candidate (echo)']);
    await configurations.selectOption('candidate');
    await edited.waitFor({ state: 'detached' });
    expect(await agents.count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the replay' }).click();
    await page.waitForURL(({ pathname }) => !pathname.endsWith('/order-for-candidate'));
    await page.getByText('agents of the configuration candidate').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await eventually('the replay has ended', async () => (await stateOf(id)) === 'completed');
    const answer = await dashboard.app.http.get('/api/v1/artifacts').query({ type: 'Echo', correlation_id: id });
    expect((answer.body as { items: { payload: unknown }[] }).items.map(({ payload }) => payload)).toEqual([
      { n: 100 },
    ]);
    await page.context().close();
  });

  it('follows a replay, which the live connection leaves out', async () => {
    await publish('order-to-follow', 7);
    await dashboard.app.http.post('/api/v1/correlations/order-to-follow/cancel').expect(200);
    const page = await open('order-to-follow');
    const id = await replay(page, 'order-to-follow', 'full', 'models are called and cost money');
    const rows = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await rows.filter({ hasText: 'approver' }).getByRole('img', { name: 'pending' }).waitFor();
    expect(await page.getByRole('button', { name: 'Replay', exact: true }).count()).toBe(0);
    await dashboard.app.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
    await page.getByRole('heading', { level: 1 }).getByText('cancelled').waitFor();
    await rows.filter({ hasText: 'approver' }).getByRole('img', { name: 'cancelled' }).waitFor();
    await page.context().close();
  });

  it('says why a branch of a shadow replay ended', async () => {
    await publish('order-in-shadow', 7);
    await dashboard.app.http.post('/api/v1/correlations/order-in-shadow/cancel').expect(200);
    const page = await open('order-in-shadow');
    await replay(page, 'order-in-shadow', 'shadow', 'or their branch ends with the reason');
    const rows = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await rows.filter({ hasText: 'approver' }).getByRole('img', { name: 'failed' }).waitFor();
    await page.getByRole('button', { name: 'approver' }).click();
    const details = page.getByRole('complementary', { name: 'Selection' });
    await details
      .getByText('approver does not run in a shadow replay, because it is an external agent')
      .first()
      .waitFor();
    expect(await details.getByRole('button', { name: /^Retry/ }).count()).toBe(0);
    await page.context().close();
  });

  it('offers no retry of a failure that a shadow replay took from the record', async () => {
    await publish('fire-in-shadow', 13);
    await eventually('it has ended', async () => (await stateOf('fire-in-shadow')) !== 'active');
    const page = await open('fire-in-shadow');
    await page.getByRole('button', { name: 'Retry failed' }).waitFor();
    await replay(page, 'fire-in-shadow', 'shadow', 'or their branch ends with the reason');
    const rows = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await rows.filter({ hasText: 'broken' }).getByRole('img', { name: 'failed' }).waitFor();
    await page.getByRole('button', { name: 'broken' }).click();
    await page.getByRole('complementary', { name: 'Selection' }).getByText('the printer is on fire').first().waitFor();
    expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0);
    await page.context().close();
  });

  it('reads all pages of a long trace, and has few rows at any time', async () => {
    for (let n = 100; n < 360; n += 1) await publish('long', n);
    const page = await open('long');
    await page.getByText('520 artifacts', { exact: true }).waitFor();
    // One row of 32 px for each Order, and one for each execution of echo.
    await page.locator('ol[aria-label=Timeline][style*="height: 16640px"]').waitFor();
    expect(await page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').count()).toBeLessThan(60);
    await page.context().close();
  });

  it('counts what it retries and cancels on the server while a long trace is still read, and retries it without the tab', async () => {
    for (let n = 0; n < 260; n += 1) await publish('half-read', n % 2 === 0 ? 7 : 13);
    await eventually('all have ended or wait', async () => {
      const { body } = await dashboard.app.http.get('/api/v1/correlations/half-read/waiting').expect(200);
      const { counts } = body as { counts: Record<string, number> };
      return counts.unclaimed === 130 && counts.running! + counts.ready! + counts.retry! + counts.concurrency! === 0;
    });
    const { page } = await dashboard.open();
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname));
    // The first page arrives; the next one never does.
    await page.route(/\/trace\?after=/, () => undefined);
    await page.goto(`${dashboard.app.url}/dashboard/correlations/half-read`);
    await page.getByText(/^Reading \d+ artifacts/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('130 executions of it are pending or running').waitFor();
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await dialog.getByRole('button', { name: 'Retry 130 executions' }).click();
    await page.waitForURL('**/half-read?operation=*');
    expect(sent.filter((path) => path !== '/api/v1/executions/retry')).toEqual([]);
    await page.context().close();
    await eventually('each has run again', async () => {
      const query = { correlation_id: 'half-read', state: 'failed', limit: 500 };
      const { body } = await dashboard.app.http.get('/api/v1/executions').query(query).expect(200);
      const { items } = body as { items: { round: number }[] };
      return items.length === 130 && items.every(({ round }) => round === 1);
    });
  });

  it('has the graph of its artifacts and executions, with the same selection as the timeline', async () => {
    await publish('order-8', 7);
    const page = await open('order-8');
    await page.getByRole('button', { name: 'Both' }).click();
    await page.waitForURL('**/order-8?show=both');
    const graph = page.getByRole('application');
    await graph.getByRole('button', { name: 'pending approver' }).waitFor();
    const names = await graph.getByRole('button').evaluateAll((nodes) => nodes.map((node) => node.title));
    expect(names).toEqual(['Order', 'echo', 'Echo', 'approver']);
    // Lines are drawn after the nodes that they join are measured.
    const lines = graph.getByRole('img', { name: /^\w+ to \w+$/ });
    await eventually('there are three lines', async () => (await lines.count()) === 3);

    const details = page.getByRole('complementary', { name: 'Selection' });
    await graph.getByRole('button', { name: 'completed echo' }).click();
    await details.getByRole('heading', { name: 'Attempts' }).waitFor();
    const row = page.getByRole('list', { name: 'Timeline' }).getByRole('button', { name: 'echo' });
    expect(await row.getAttribute('aria-pressed')).toBe('true');
    await graph.getByRole('button', { name: 'artifact Echo' }).click();
    await details.getByText('Published by echo').waitFor();
    expect(await row.getAttribute('aria-pressed')).toBe('true');

    await page.getByRole('button', { name: 'Graph', exact: true }).click();
    await page.waitForURL(/selected=.*show=graph|show=graph.*selected=/);
    await page.reload();
    await details.getByText('Published by echo').waitFor();
    await graph.getByRole('button', { name: 'artifact Echo', pressed: true }).waitFor();
    expect(await page.getByRole('list', { name: 'Timeline' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.waitForURL(/show=table/);
    const table = page.getByRole('table', { name: 'Graph' });
    await table.getByRole('button', { name: 'artifact Echo', pressed: true }).first().waitFor();
    expect((await table.getByRole('row').allInnerTexts()).map((text) => text.split(/\s+/))).toEqual([
      ['Node', 'From', 'To'],
      ['Order', '–', 'echo'],
      ['Echo', 'echo', 'approver'],
      ['echo', 'Order', 'Echo'],
      ['approver', 'Echo', '–'],
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await table.getByRole('button', { name: 'pending approver' }).first().click();
    await details.getByRole('heading', { name: 'approver' }).waitFor();
  });

  it('reads only the pages of a long trace again that change', async () => {
    await publish('long-live', 7);
    for (let n = 1_000; n < 1_250; n += 1) await publish('long-live', n);
    const artifacts = (count: number): Promise<void> => page.getByText(`${count} artifacts`, { exact: true }).waitFor();
    const page = await open('long-live');
    await artifacts(502);
    let read: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/trace')) read.push(searchParams.has('after') ? 'the last page' : 'the first page');
    });
    await publish('long-live', 1_250);
    await artifacts(504);
    // All that happened before the page was opened has been read then.
    read = [];
    await publish('long-live', 1_251);
    await artifacts(506);
    expect([...new Set(read)]).toEqual(['the last page']);

    const { body: list } = await dashboard.app.http.get('/api/v1/executions?correlation_id=long-live&agent=approver');
    const { body } = await dashboard.app.http
      .post(`/api/v1/executions/${list.items[0].id}/claim`)
      .send({ claimed_by: 'ada' })
      .expect(200);
    const approver = page.getByRole('list', { name: 'Timeline' }).getByRole('button', { name: 'approver' });
    await approver.filter({ has: page.getByRole('img', { name: 'running' }) }).waitFor();
    expect(read).toContain('the first page');
    await dashboard.app.http
      .post(`/api/v1/executions/${list.items[0].id}/complete`)
      .send({ lease_token: body.lease_token, outputs: [{ type: 'Approval', payload: {} }] })
      .expect(200);
    await approver.filter({ has: page.getByRole('img', { name: 'completed' }) }).waitFor();
    await artifacts(507);
  });

  it('shows a part of the graph of a long trace, the one with what the timeline selects', async () => {
    for (let n = 100; n < 360; n += 1) await publish('long-graph', n);
    const page = await open('long-graph');
    await page.getByText('520 artifacts', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Both' }).click();
    await page.getByText('The graph shows executions 1 to 100 of 260; the timeline shows all.').waitFor();
    const graph = page.getByRole('application');
    await graph.getByRole('button', { name: 'completed echo' }).nth(99).waitFor();
    await page.getByRole('list', { name: 'Timeline' }).evaluate((list) => list.parentElement!.scrollTo(0, 1e6));
    const row = page.getByRole('list', { name: 'Timeline' }).getByRole('button', { name: 'echo' }).last();
    await row.click();
    await page.getByText('The graph shows executions 201 to 260 of 260; the timeline shows all.').waitFor();
    await graph.getByRole('button', { name: 'completed echo', pressed: true }).waitFor();
  });

  it("shows the server's answer if the correlation does not exist", async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/correlations/unknown`);
    await page.getByRole('alert').getByText('Correlation not found: unknown').waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    await publish('order-13-again', 13);
    const { page, complaints } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/correlations/order-13-again`);
    await page.getByRole('button', { name: 'broken' }).first().click();
    await page.getByRole('complementary').getByRole('heading', { name: 'Attempts' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: 'Both' }).click();
    await page.getByRole('application').getByRole('button', { name: 'failed broken' }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(complaints).toEqual([]);
  });
});

const configWith = (models: ModelServer): string => `
models:
  local/large: { input_per_million: 1, output_per_million: 2 }
types:
  Question: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:
  writer:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    retry: { attempts: 1 }
    engine:
      kind: llm
      model: local/small
      base_url: ${models.url}
      instructions: Answer at length.
      temperature: 0.9
      max_output_tokens: 500
`;

let models: ModelServer;

async function withModels(): Promise<TestAppOptions> {
  models = await ModelServer.start();
  return { config: configWith(models) };
}

describeDashboard('the view of a correlation of a model', withModels, (dashboard) => {
  afterAll(() => models.close());

  it('changes the instructions, the model and its options for a replay', async () => {
    const { http, url } = dashboard.app;
    models.answers({ text: '{"text":"It comes tomorrow."}' });
    const body = { type: 'Question', payload: { text: 'When?' } };
    await http.post('/api/v1/artifacts/sync').set('X-Correlation-ID', 'question').send(body).expect(200);
    expect(models.requests.splice(0)).toMatchObject([{ body: { model: 'small', temperature: 0.9, max_tokens: 500 } }]);

    const { page, complaints } = await dashboard.open();
    await page.goto(`${url}/dashboard/correlations/question`);
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this correlation?' });
    await dialog.getByRole('combobox', { name: 'Change an agent for this replay' }).selectOption('writer');
    const changes: [label: string, configured: string, value: string][] = [
      ['Instructions', 'Answer at length.', 'Answer "briefly".'],
      ['Model', 'local/small', 'local/large'],
      ['Temperature', '0.9', '0.5'],
      ['Most output tokens', '500', '50'],
    ];
    for (const [label, configured, value] of changes) {
      const field = dialog.getByRole('group', { name: 'writer' }).getByLabel(label);
      await eventually(`${label} is shown`, async () => (await field.inputValue()) === configured);
      await field.fill(value);
    }
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the replay' }).click();
    await page.getByText('with changes of writer').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await eventually('the replay has ended', async () => {
      const status = await http.get(`/api/v1/correlations/${id}/status`).expect(200);
      return (status.body as { state: string }).state === 'completed';
    });
    expect(models.requests).toMatchObject([{ body: { model: 'large', temperature: 0.5, max_tokens: 50 } }]);
    expect(models.requests[0]!.text).toContain('Answer \\"briefly\\".');
    expect(models.requests[0]!.text).not.toContain('at length');
    expect(complaints).toEqual([]);
  });
});
