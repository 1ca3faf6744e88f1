// Opens the web app of the application in a real browser, with a correlation for each thing that work can wait for.
import { describeDashboard } from '../../support/page-checks.js';

const CONFIG = `
limits:
  oven: { concurrency: 1, key: payload.customer }
agents:
  joiner:
    consumes: [{ types: [Left, Right], join: { within: 1h } }]
    publishes: [{ type: Both }]
    engine: { kind: expression, expression: '{}' }
  packer:
    consumes: [{ types: [Parcel], batch: { size: 3, timeout: 1h } }]
    publishes: [{ type: Load }]
    engine: { kind: expression, expression: '{}' }
  courier:
    consumes: [{ types: [Load, Letter], mode: any }]
    retry: { attempts: 2, delay: 1h }
    engine: { kind: function, module: ./fail.js }
  resting:
    consumes: [{ types: [Note] }]
    engine: { kind: expression, expression: '{}' }
  furnace:
    consumes: [{ types: [Ore] }]
    concurrency: 1
    timeout: 1h
    engine: { kind: function, module: ./wait.js }
  kiln:
    consumes: [{ types: [Clay] }]
    timeout: 1h
    engine: { kind: function, module: ./wait.js }
  baker:
    consumes: [{ types: [Bread] }]
    limits: [oven]
    timeout: 1h
    engine: { kind: function, module: ./wait.js }
  sifter:
    consumes: [{ types: [Sand] }]
    engine: { kind: expression, expression: '{}' }
`;

const FILES = {
  'fail.js': `export default () => { throw new Error('the road is closed'); };`,
  'wait.js': `export default (_inputs, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`,
};

/** Three executions run until the end. */
const SETTINGS = { maxConcurrentExecutions: 3 };

describeDashboard('what a correlation waits for', { config: CONFIG, files: FILES, settings: SETTINGS }, (dashboard) => {
  it('names the limit that an execution waits for, what is used of it, and its place, as explain does', async () => {
    const { http, url } = dashboard.app;
    for (const correlation of ['bread-1', 'bread-2', 'bread-3'])
      await http
        .post('/api/v1/artifacts')
        .set('X-Correlation-ID', correlation)
        .send({ type: 'Bread', payload: { customer: 17 } })
        .expect(200);
    const limit = 'limit oven: 1 of 1 used, 2nd of 2 for customer 17';
    const { page, complaints } = await dashboard.open();
    await page.goto(`${url}/dashboard/correlations/bread-3`);
    const waits = page.getByRole('region', { name: 'Waits for' }).getByRole('listitem');
    await waits.getByText(`baker, which waits for ${limit}`, { exact: true }).waitFor();
    const { body: list } = await http.get('/api/v1/artifacts?correlation_id=bread-3').expect(200);
    const { body } = await http.get(`/api/v1/artifacts/${list.items[0].id}/explain`).expect(200);
    expect(JSON.stringify(body)).toContain(`the execution waits for ${limit}.`);
    expect(complaints).toEqual([]);
  });

  // Each waits in its own correlation, in this order: the last ones find no free slot.
  it.each<[reason: string, published: object, sentence: RegExp]>([
    [
      'a hidden artifact',
      { type: 'Left', visibility: { kind: 'After', ttl: 'PT1H' } },
      /^a hidden Left, which agents see from /,
    ],
    ['a join', { type: 'Left' }, /^Right for the join of joiner, until /],
    ['a window', { type: 'Parcel' }, /^the batch window of packer, which has 1 of 3, until /],
    ['a retry', { type: 'Letter' }, /^courier, attempt 2 in (1 h|\d+ min)/],
    ['an agent that is paused', { type: 'Note' }, /^resting, which is paused$/],
    [
      'its deadline',
      { type: 'Note', deadline: 'PT2H' },
      /^its deadline: it is cancelled in \d+ h unless it ends before$/,
    ],
    ['an agent that runs', { type: 'Ore' }, /^furnace, which has run for \d+/],
    [
      'the concurrency of an agent',
      { type: 'Ore' },
      /^furnace, which waits for concurrency of furnace: \d of \d used, 1st of 1$/,
    ],
    ['another agent that runs', { type: 'Clay' }, /^kiln, which has run for \d+/],
    ['a slot of the process', { type: 'Sand' }, /^sifter, because each process runs as many executions as it may$/],
  ])('says that it waits for %s', async (reason, published, sentence) => {
    const { http, url } = dashboard.app;
    await http.post('/api/v1/agents/resting/pause').expect(200);
    const correlation = reason.replaceAll(' ', '-');
    await http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ payload: {}, ...published })
      .expect(200);
    const { page, complaints } = await dashboard.open();
    await page.goto(`${url}/dashboard/correlations/${correlation}`);
    await page.getByRole('region', { name: 'Waits for' }).getByRole('listitem').filter({ hasText: sentence }).waitFor();
    expect(complaints).toEqual([]);
  });

  // A process claims a ready execution within milliseconds, and a missing process and a full budget need another
  // configuration: here the page gets the answer about a paused agent with another kind. test/e2e/what-waits.spec.ts has
  // the service give these answers.
  it.each([
    ['ready', /^resting, which is about to start$/],
    ['no_process', /^resting, which no live process has$/],
    [
      'no_configuration',
      /^resting, for which no live process has the configuration of this replay, as it was at its start$/,
    ],
    ['budget', /^resting, because running model calls may use the rest of a budget$/],
  ])('has a sentence for the kind %s', async (kind, sentence) => {
    const { http, url } = dashboard.app;
    await http.post('/api/v1/agents/resting/pause').expect(200);
    await http.post('/api/v1/artifacts').set('X-Correlation-ID', kind).send({ type: 'Note', payload: {} }).expect(200);
    const { page, complaints } = await dashboard.open();
    await page.route(/\/waiting\?/, async (route) => {
      const response = await route.fetch();
      const { items, ...rest } = (await response.json()) as { items: object[] };
      await route.fulfill({ response, json: { ...rest, items: items.map((item) => ({ ...item, kind })) } });
    });
    await page.goto(`${url}/dashboard/correlations/${kind}`);
    await page.getByRole('region', { name: 'Waits for' }).getByRole('listitem').filter({ hasText: sentence }).waitFor();
    expect(complaints).toEqual([]);
  });
});
