// Opens the web app of the application in a real browser. The model server is a stand-in.
import { durationText } from '../../../dashboard/src/formats.js';
import type { HistoryBody } from '../../../src/features/agents/dto/history-body.js';
import { setKeys } from '../../engines/llm/llm-board.js';
import type { TestAppOptions } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ModelServer, USED } from '../../support/model-server.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

/** An answer of the cheap model costs 1, and one of the other model 2. */
const configFor = (models: ModelServer): string => `
models:
  local/large: { input_per_million: ${2e6 / USED.input}, output_per_million: 0 }
  local/small: { input_per_million: ${1e6 / USED.input}, output_per_million: 0 }
types:
  Order: { schema: { type: object, properties: { n: { type: integer } }, examples: [{ n: 4 }] } }
agents:
  divider:
    description: Divides 12 by a number
    consumes: [{ types: [Order] }, { types: [Order, Rule] }, { types: [Note, Hint], mode: any }]
    publishes: [{ type: Quotient }]
    retry: { attempts: 1 }
    engine: { kind: function, module: ./divider.ts }
  writer:
    consumes: [{ types: [Topic], priority: 5 }, { types: [Rule] }]
    publishes: [{ type: Text }]
    timeout: 90s
    concurrency: 1
    retry: { attempts: 4, delay: 500ms }
    budget: { tokens: 20000, cost: 0.5 }
    labels: [pii, legal]
    tenant_id: acme
    engine: { kind: llm, model: local/llama3.2, base_url: "http://127.0.0.1:9/v1", instructions: Write. }
  halver:
    consumes: [{ types: [Half] }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: "{'q': payload.n}" }
    retry: { attempts: 1 }
    variants: { named: { share: 100%, expression: "{'q': payload.name}" } }
    rollback: { failures: 50%, of: 4 }
  replier:
    consumes: [{ types: [Mail] }]
    publishes: [{ type: Reply }]
    engine: { kind: llm, model: local/large, base_url: "${models.url}", instructions: Reply. }
    variants: { cheap: { share: 100%, model: local/small } }
  person:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    timeout: 10m
    retry: { attempts: 2 }
    engine: { kind: external }
`;

const FILES = {
  'divider.ts': `export default ([{ payload: { n } }]: [{ payload: { n: number } }]) => {
    if (n === 0) throw new Error('there is no result for 0');
    return { q: 12 / n };
  };`,
};

let models: ModelServer;

async function prepare(): Promise<TestAppOptions> {
  setKeys();
  models = await ModelServer.start();
  return { config: configFor(models), files: FILES };
}

describeDashboard('the view Agent', prepare, (dashboard) => {
  afterAll(() => models.close());

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
    await page.getByRole('textbox', { name: 'Rule', exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('compares its variants, and says which are rolled back', async () => {
    const { page, complaints } = await dashboard.open();
    for (let n = 0; n < 2; n += 1)
      await dashboard.app.http.post('/api/v1/artifacts/sync').send({ type: 'Half', payload: {} }).expect(200);
    await page.goto(`${dashboard.app.url}/dashboard/agents/halver`);
    const section = page.getByRole('region', { name: 'Variants' });
    await section.getByText('A variant is rolled back when 2 of its last 4 attempts have failed.').waitFor();
    await section.getByRole('row', { name: /^base 0 % 0 0/ }).waitFor();
    await section.getByRole('row', { name: /^named rolled back .* 100 % 2 2 \(100 %\)/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows what an execution of a variant costs on average', async () => {
    const { page, complaints } = await dashboard.open();
    models.answers({ text: '{"text":"Here."}' });
    for (let n = 0; n < 2; n += 1)
      await dashboard.app.http.post('/api/v1/artifacts/sync').send({ type: 'Mail', payload: {} }).expect(200);
    await page.goto(`${dashboard.app.url}/dashboard/agents/replier`);
    const section = page.getByRole('region', { name: 'Variants' });
    await section.getByText('No variant is rolled back by failures.').waitFor();
    await section.getByRole('row', { name: /^cheap 100 % 2 0 .* 1$/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows how long the executions of a variant took, as the API says', async () => {
    const { http, url } = dashboard.app;
    const publish = (path: string) => http.post(path).send({ type: 'Mail', payload: {} }).expect(200);
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const text = '{"text":"Here."}';
    models.answers({ text, before: opened }, { text });
    // The first one runs as long as all others together, so that the two figures differ.
    const { headers } = await publish('/api/v1/artifacts');
    await eventually('the first one runs', () => models.requests.length === 1);
    for (let n = 0; n < 8; n += 1) await publish('/api/v1/artifacts/sync');
    open();
    await eventually('the first one has ended', async () => {
      const { body } = await http.get(`/api/v1/correlations/${headers['x-correlation-id']}/status`).expect(200);
      return (body as { state: string }).state === 'completed';
    });
    const { body } = await http.get('/api/v1/agents/replier/history-summary').expect(200);
    const { duration_ms: took } = (body as HistoryBody).summary.by_variant!.find(({ name }) => name === 'cheap')!;
    expect(took!.p50).toBeLessThan(took!.p95);

    const { page, complaints } = await dashboard.open();
    await page.goto(`${url}/dashboard/agents/replier`);
    const table = page.getByRole('table', { name: 'The last executions of each variant' });
    const cellOf = async (row: RegExp, title: string): Promise<string> => {
      const titles = await table.getByRole('columnheader').allInnerTexts();
      const cells = table.getByRole('row', { name: row }).locator('th, td');
      return (await cells.allInnerTexts())[titles.indexOf(title)]!;
    };
    await table.getByRole('row', { name: /^cheap/ }).waitFor();
    expect([await cellOf(/^cheap/, 'p50'), await cellOf(/^cheap/, 'p95')]).toEqual([
      durationText(took!.p50),
      durationText(took!.p95),
    ]);
    expect([await cellOf(/^base/, 'p50'), await cellOf(/^base/, 'p95')]).toEqual(['', '']);
    expect(complaints).toEqual([]);
  });

  it('offers its fields when the examples of the types have come, so that none replaces what is typed', async () => {
    const { page } = await dashboard.open();
    const arrived = Promise.withResolvers<void>();
    await page.route('**/api/v1/artifact-types', async (route) => {
      await arrived.promise;
      await route.continue();
    });
    await page.goto(`${dashboard.app.url}/dashboard/agents/divider?as=json`);
    const section = page.getByRole('region', { name: 'Run it alone' });
    await section.waitFor();
    expect(await section.getByRole('textbox').count()).toBe(0);
    arrived.resolve();
    const field = section.getByRole('textbox', { name: 'Order' });
    await field.waitFor();
    expect(JSON.parse(await field.inputValue())).toEqual({ n: 4 });
  });

  it('shows what the service refuses at the field of the input that it names', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents/divider?inputs=Order+and+Rule`);
    await page.getByRole('textbox', { name: 'Rule', exact: true }).waitFor();
    const number = page.getByRole('group', { name: 'Order', exact: true }).getByLabel('n (optional)');
    await number.fill('four');
    await page.getByRole('button', { name: 'Run the agent' }).click();
    await page.getByRole('alert').filter({ hasText: 'inputs[0].payload.n: must be integer' }).waitFor();
    await page.getByText('must be integer', { exact: true }).waitFor();
    await number.and(page.locator(':focus')).waitFor();
  });

  it.each([
    [
      'divider',
      ['a function that the service runs', '1 min for each attempt', '1 attempt; a failure is final'],
      ['Budget', 'Labels', 'Tenant'],
    ],
    [
      'writer',
      [
        'the language model local/llama3.2',
        'at most 1 execution at the same time, over all processes',
        '1 min 30 s for each attempt',
        '4 attempts in all, the second after about 500 ms; each further delay is twice as long, up to 1 min',
        '5 for Topic; 0 for Rule',
        'at most 20,000 tokens and a cost of 0.5 in one correlation',
        'pii, legal',
        'acme',
      ],
      [],
    ],
    [
      'person',
      [
        'people or workers, who claim its executions',
        'at most 10 executions claimed at the same time, over all processes',
        'a claim ends after 10 min without a heartbeat',
        '2 attempts in all, the second after about 1 s',
      ],
      ['Budget'],
    ],
  ])('says which options %s has', async (name, texts, absent) => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents/${name}`);
    const options = page.getByRole('region', { name: 'Options' });
    for (const text of texts) await options.getByText(text, { exact: true }).waitFor();
    for (const text of absent) expect(await options.getByText(text, { exact: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows why it failed', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/agents/divider`);
    const order = page.getByRole('group', { name: 'Order', exact: true });
    expect(await order.getByLabel('n (optional)').inputValue()).toBe('4');
    await order.getByLabel('n (optional)').fill('0');
    await order.getByLabel('n (optional)').press('Control+Enter');
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

  it.each(LOOKS)('is accessible with variants: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await page.goto(`${dashboard.app.url}/dashboard/agents/halver`);
    await page
      .getByRole('region', { name: 'Variants' })
      .getByRole('row', { name: /^named/ })
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
