// Opens the web app of the application in a real browser. The pages are open while agents work, and are not loaded again.
import type { Page } from 'playwright-core';

import type { components } from '../../../dashboard/src/api/schema.js';
import { eventually } from '../../support/eventually.js';
import { describeDashboard, openTab } from '../../support/page-checks.js';
import { printedSeed, Random } from '../../support/random.js';
import { facetsShown, overviewShown, rowsShown, timelineShown, verdictsShown } from './shown.js';

type Schemas = components['schemas'];

const CONFIG = `
types:
  Order: {}
agents:
  splitter:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Item }]
    engine: { kind: function, module: ./splitter.ts }
  maker:
    consumes: [{ types: [Item] }]
    publishes: [{ type: Part }]
    retry: { attempts: 3, delay: 5ms }
    engine: { kind: function, module: ./maker.ts }
  assembler:
    consumes: [{ types: [Order, Part], join: { by: string(payload.key), within: 1h } }]
    publishes: [{ type: Product }]
    engine: { kind: expression, expression: '{"key": payload.Order.key}' }
  inspector:
    consumes: [{ types: [Product], where: int(payload.key) % 3 == 0 }]
    publishes: [{ type: Report }]
    engine: { kind: external }
  watcher:
    consumes: [{ types: [WorkflowError] }]
    publishes: [{ type: Note }]
    engine: { kind: expression, expression: '{}' }
`;

const FILES = {
  'splitter.ts': `export default ([{ payload }]) => payload.items;`,
  'maker.ts': `export default ([{ payload: { key, fails } }], { attempt }) => {
    if (attempt <= fails) throw new Error(\`attempt \${attempt} of part \${key} failed\`);
    return { key };
  };`,
};

const PUBLISHES = 30;
const CORRELATIONS = 10;
const TAGS = ['red', 'green', 'blue'];

/** All rows of the lists fit into it. */
const LOOK = { colorScheme: 'light', width: 1_920, height: 9_000 } as const;

const WITHIN_MS = 20_000;

describeDashboard('what the views show after random work', { config: CONFIG, files: FILES }, (dashboard) => {
  const get = async <T>(path: string): Promise<T> =>
    (await dashboard.app.http.get(`/api/v1/${path}`).expect(200)).body as T;

  const executions = async (query: string): Promise<Schemas['ListedExecutionBody'][]> =>
    (await get<Schemas['ExecutionListBody']>(`executions?limit=500&${query}`)).items;

  const publish = (correlation: string, random: Random): Promise<unknown> => {
    const key = random.between(0, 20);
    const items = Array.from({ length: random.between(0, 3) }, () => ({ key, fails: random.between(0, 3) }));
    const tags = TAGS.filter(() => random.next() < 0.3);
    return dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Order', payload: { key, items }, tags })
      .expect(200);
  };

  const work = async (random: Random): Promise<void> => {
    await publish('order-1', random);
    for (let done = 1; done < PUBLISHES;) {
      const together = Math.min(PUBLISHES - done, random.between(1, 5));
      done += together;
      await Promise.all(
        Array.from({ length: together }, () => publish(`order-${random.between(1, CORRELATIONS)}`, random)),
      );
    }
    await eventually('only people have work', async () => {
      const [running, pending] = await Promise.all([executions('state=running'), executions('state=pending')]);
      return running.length === 0 && pending.every(({ agent }) => agent === 'inspector');
    });
    for (const { id } of await executions('external=true'))
      if (random.next() < 0.5)
        await dashboard.app.http.post(`/api/v1/executions/${id}/claim`).send({ claimed_by: 'ada' }).expect(200);
  };

  /** The counts of ended and of failed executions, by agent, as the views write them. */
  const endsByAgent = async (): Promise<Record<string, string[]>> => {
    const ends: Record<string, { all: number; failed: number }> = {};
    for (const { agent, state } of await executions('')) {
      if (state !== 'completed' && state !== 'failed') continue;
      const { all, failed } = ends[agent] ?? { all: 0, failed: 0 };
      ends[agent] = { all: all + 1, failed: failed + Number(state === 'failed') };
    }
    return Object.fromEntries(Object.entries(ends).map(([agent, { all, failed }]) => [agent, endsText(all, failed)]));
  };

  it('equals what the API says', async () => {
    const { page: overview } = await dashboard.open(LOOK);
    const newTab = async (): Promise<Page> => (await openTab(overview.context())).page;
    const show = async (path: string, page?: Page): Promise<Page> => {
      const tab = page ?? (await newTab());
      await tab.goto(`${dashboard.app.url}/dashboard${path}`);
      await tab.getByText('Live', { exact: true }).waitFor();
      return tab;
    };
    // Counts without an event are polled. The clocks of these pages are moved, so that the test does not wait for that.
    const agents = await newTab();
    for (const page of [overview, agents]) await page.clock.install();
    await show('', overview);
    await show('/agents', agents);
    const correlations = await show('/correlations');
    const correlation = await show('/correlations/order-1');
    const artifacts = await show('/artifacts');
    const allExecutions = await show('/executions');

    const random = new Random(printedSeed());
    await work(random);
    for (const page of [overview, agents]) await page.clock.fastForward(60_000);

    await agree('artifacts', rowsShown, artifacts, async () =>
      (await get<Schemas['ArtifactListBody']>('artifacts?order=desc&limit=500')).items.map((item) => ({
        Type: item.type,
        Payload: JSON.stringify(item.payload).slice(0, 300),
        Producer: item.produced_by,
        Correlation: item.correlation_id,
        Tags: item.tags.join(', '),
        Id: item.id,
      })),
    );
    await agree('counts of artifacts', facetsShown, artifacts, async () => {
      const { summary } = await get<Schemas['SummaryBody']>('artifacts/summary');
      const { by_type, by_producer, by_visibility } = summary;
      expect(await artifacts.getByText(`${summary.total_count} artifacts`, { exact: true }).count()).toBe(1);
      return { Types: by_type, Producers: by_producer, Visibility: by_visibility };
    });
    await agree('executions', rowsShown, allExecutions, async () =>
      (await executions('')).map((item) => ({
        State: item.state,
        Agent: item.agent,
        Error: item.error_message === null ? '' : `${item.error_type} ${item.error_message}`,
        Attempt: String(item.attempt),
        Correlation: item.correlation_id,
        Id: item.id,
      })),
    );
    await agree('correlations', rowsShown, correlations, async () =>
      (await get<Schemas['CorrelationListBody']>('correlations?limit=100')).items.map((item) => ({
        State: item.state,
        Correlation: item.correlation_id,
        Artifacts: String(item.artifact_count),
        Errors: String(item.error_count),
        Pending: item.pending_count === 0 ? '' : String(item.pending_count),
      })),
    );
    await agree('timeline', timelineShown, correlation, async () => {
      const trace = await get<Schemas['TraceBody']>('correlations/order-1/trace?limit=500');
      expect(await correlation.getByRole('heading', { level: 1 }).innerText()).toContain(trace.state);
      await correlation.getByText(new RegExp(`^${trace.artifact_count} artifacts?$`)).waitFor();
      const published = trace.artifacts.filter(({ execution_id }) => execution_id === null);
      return [
        ...published.map(({ type }) => `published ${type}`),
        ...trace.executions.map(
          ({ state, agent, attempts }) => `${state} ${agent}${attempts.length > 1 ? ` × ${attempts.length}` : ''}`,
        ),
      ].sort();
    });
    const { artifacts: traced } = await get<Schemas['TraceBody']>('correlations/order-1/trace?limit=500');
    const { id, type } = traced[random.between(0, traced.length - 1)]!;
    await agree(`verdicts on ${type} ${id}`, verdictsShown, await show(`/artifacts/${id}`), async () =>
      (await get<Schemas['ExplanationBody']>(`artifacts/${id}/explain`)).verdicts
        .map(({ agent, verdict, detail }) => `${agent}; ${verdict.replaceAll('_', ' ')}; ${detail}`)
        .sort(),
    );
    await agree('agents', rowsShown, agents, async () => {
      const ends = await endsByAgent();
      return (await get<Schemas['AgentsBody']>('agents')).agents.map(({ name }) => {
        const [ended, failed] = ends[name] ?? endsText(0, 0);
        return { Agent: name, Ended: ended, Failed: failed };
      });
    });
    await agree('overview', overviewShown, overview, async () => ({
      tiles: {
        // The tile counts what processes run, and work that a person has claimed is not in it.
        Running: String((await executions('state=running')).filter(({ agent }) => agent !== 'inspector').length),
        // Only people have work, and all agents are resumed.
        Queued: '0',
        Retrying: '0',
        Paused: '0',
        'In joins': String(
          (await get<Schemas['WaitingGroupsBody']>('waiting?limit=500')).items.reduce((sum, { size }) => sum + size, 0),
        ),
        'For people': String((await executions('external=true')).length),
        Hidden: '0',
        'No agent': String((await executions('without_agent=true')).length),
        Deliveries: '0',
      },
      agents: await endsByAgent(),
      newest: (await get<Schemas['CorrelationListBody']>('correlations?limit=8')).items.map((item) => [
        item.state,
        item.correlation_id,
      ]),
      failures: (await get<Schemas['ExecutionListBody']>('executions?state=failed&limit=6')).items.map((item) => [
        item.agent,
        `${item.error_type}: ${item.error_message}`,
      ]),
    }));
  });
});

const endsText = (all: number, failed: number): string[] => [
  String(all),
  failed === 0 ? '0' : `${failed} (${shareText(failed / all)})`,
];

const shareText = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Compares what a page shows with what the API says until they are equal, as a page follows within seconds. */
async function agree<T>(
  what: string,
  read: (page: Page) => Promise<T>,
  page: Page,
  said: () => Promise<NoInfer<{ [K in keyof T]?: unknown }>>,
): Promise<void> {
  await eventually(
    `${what} are what the API says`,
    async () => {
      expect(await read(page)).toMatchObject(await said());
      return true;
    },
    WITHIN_MS,
  );
}
