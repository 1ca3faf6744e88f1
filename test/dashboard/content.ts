// An application with something to see in each view of the web app.
import type { Page } from 'playwright-core';

import type { TestApp, TestAppOptions } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { describeDashboard, type OpenDashboard } from '../support/page-checks.js';
import { answers, Receiver } from '../support/receiver.js';

const CONTENT: TestAppOptions = {
  config: `
types:
  Order: { schema: { type: object, properties: { item: { type: string } } } }
  Label: { schema: { type: object, properties: { item: { type: string } } } }
limits:
  tables: { concurrency: 4 }
schedules:
  new-year: { cron: 0 7 1 1 *, publishes: { type: Label } }
agents:
  packer:
    consumes: [{ types: [Order] }]
    limits: [tables]
    publishes: [{ type: Parcel }]
    engine: { kind: expression, expression: "{'item': payload.item}" }
  broken:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Invoice }]
    retry: { attempts: 1 }
    engine: { kind: function, module: ./broken.js }
  joiner:
    consumes: [{ types: [Parcel, Invoice], join: { within: 1h } }]
    publishes: [{ type: Shipment }]
    engine: { kind: expression, expression: '{}' }
  printer:
    consumes: [{ types: [Label] }]
    publishes: [{ type: Print }]
    engine: { kind: expression, expression: "{'item': payload.item}" }
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`,
  files: { 'broken.js': "export default () => { throw new Error('out of paper'); };" },
  settings: { outboundAllow: ['127.0.0.1/32'] },
};

/** The ids of what `addContent` has made. */
export interface Content {
  artifact: string;
  batch: string;
  experiment: string;
  execution: string;
  task: string;
  group: string;
  delivery: string;
  target: string;
}

interface FilledDashboard extends OpenDashboard {
  content: Content;
}

/** As `describeDashboard`, with something to see in each view. The ids are there once the tests run. */
export function describeFilledDashboard(name: string, tests: (dashboard: FilledDashboard) => void): void {
  describeDashboard(name, CONTENT, (open) => {
    const dashboard = open as FilledDashboard;
    let receiver: Receiver;

    beforeAll(async () => {
      receiver = await Receiver.start();
      dashboard.content = await addContent(dashboard.app, receiver);
    });
    afterAll(() => receiver.close());

    tests(dashboard);
  });
}

const EXPERIMENT = {
  name: 'louder',
  data: { csv: 'item\na chair\na lamp\n', agent: 'printer' },
  output: 'Print',
  variants: [{ name: 'now' }, { name: 'loud', overrides: { printer: { expression: "{'item': payload.item + '!'}" } } }],
  scorers: [
    { name: 'is short', kind: 'cel', expression: 'size(output.item) < 8' },
    { name: 'latency', kind: 'latency' },
  ],
};

/**
 * Publishes an order, whose packer completes, whose invoice fails, and whose approval waits; and runs a batch and an
 * experiment.
 */
async function addContent({ http }: TestApp, receiver: Receiver): Promise<Content> {
  receiver.on('/hook', answers(204));
  await http
    .post('/api/v1/artifacts')
    .set('X-Correlation-ID', 'order-1')
    .send({ type: 'Order', payload: { item: 'a lamp' }, webhook: { url: receiver.url('/hook') } })
    .expect(200);
  const { body } = await http
    .post('/run/batch')
    .send({ agent_name: 'printer', batch_inputs: [{ item: 'a chair' }] })
    .expect(200);
  const { batch_id: batch } = body as { batch_id: string };
  await eventually('the batch has ended', async () => (await http.get(`/batch/${batch}`)).body.status === 'completed');
  const started = await http.post('/api/v1/experiments').send(EXPERIMENT).expect(200);
  const { experiment_id: experiment } = started.body as { experiment_id: string };
  await eventually(
    'the experiment has ended',
    async () => (await http.get(`/api/v1/experiments/${experiment}`)).body.state === 'completed',
  );
  return {
    batch,
    experiment,
    artifact: await idOf(http, 'artifacts?type=Order&correlation_id=order-1', 'id'),
    execution: await idOf(http, 'executions?agent=broken&state=failed', 'id'),
    task: await idOf(http, 'executions?agent=approver', 'id'),
    group: await idOf(http, 'waiting?agent=joiner', 'group_id'),
    delivery: await idOf(http, 'webhooks/deliveries?state=delivered', 'delivery_id'),
    target: await idOf(http, 'webhooks/targets', 'target_id'),
  };
}

/** Waits until a list has a row, and returns its id. */
async function idOf(http: TestApp['http'], path: string, key: string): Promise<string> {
  let id: string | undefined;
  await eventually(`${path} has a row`, async () => {
    const { body } = await http.get(`/api/v1/${path}`).expect(200);
    id = (body as { items: Record<string, string>[] }).items[0]?.[key];
    return id !== undefined;
  });
  return id!;
}

/** A view with content. */
export interface ShownView {
  name: string;
  /** The part of its address after `/dashboard`. */
  path: (content: Content) => string;
  /** Its heading. */
  title: string;
  /** A text that it shows of the content. */
  text: string;
}

/** Everything that a view asks the API for, except the live connection. */
export const REQUESTS = /\/(?:api\/v1\/(?!.*changelog\/stream)|batch\/|metrics$|health$)/;

/** Waits until the page shows the content of a view. */
export const showsContent = (page: Page, { text }: ShownView): Promise<void> =>
  page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();

export const VIEWS: readonly ShownView[] = [
  { name: 'the overview', path: () => '', title: 'Overview', text: 'out of paper' },
  { name: 'correlations', path: () => '/correlations', title: 'Correlations', text: 'order-1' },
  { name: 'a correlation', path: () => '/correlations/order-1', title: 'order-1', text: 'approver' },
  { name: 'artifacts', path: () => '/artifacts', title: 'Artifacts', text: '{"item":"a lamp"}' },
  { name: 'an artifact', path: ({ artifact }) => `/artifacts/${artifact}`, title: 'Order', text: 'a lamp' },
  { name: 'agents', path: () => '/agents', title: 'Agents', text: 'joiner' },
  { name: 'an agent', path: () => '/agents/packer', title: 'packer', text: 'Run it alone' },
  { name: 'the graph', path: () => '/graph', title: 'Graph', text: 'joiner' },
  { name: 'executions', path: () => '/executions', title: 'Executions', text: 'out of paper' },
  { name: 'failures', path: () => '/executions?view=failures', title: 'Executions', text: 'out of paper' },
  { name: 'what waits', path: () => '/waiting', title: 'Waiting', text: 'Invoice' },
  { name: 'limits', path: () => '/limits', title: 'Limits', text: 'tables' },
  { name: 'schedules', path: () => '/schedules', title: 'Schedules', text: 'new-year' },
  { name: 'the inbox', path: () => '/inbox', title: 'Inbox', text: 'approver' },
  { name: 'batches', path: () => '/batches', title: 'Batches', text: 'printer' },
  { name: 'a batch', path: ({ batch }) => `/batches/${batch}`, title: 'Batch', text: '1 of 1' },
  { name: 'a new batch', path: () => '/batches/new', title: 'Start a batch', text: 'CSV file with a header' },
  { name: 'experiments', path: () => '/experiments', title: 'Experiments', text: 'louder' },
  {
    name: 'an experiment',
    path: ({ experiment }) => `/experiments/${experiment}`,
    title: 'Experiment',
    text: '4 of 4 trials',
  },
  { name: 'the changelog', path: () => '/changelog', title: 'Changelog', text: 'Order' },
  { name: 'deliveries', path: () => '/deliveries', title: 'Deliveries', text: 'order-1' },
  {
    name: 'comparing',
    path: () => '/compare?left=order-1&right=order-1&show=all',
    title: 'Compare',
    text: 'packer',
  },
  { name: 'publishing', path: () => '/publish', title: 'Publish', text: 'item' },
];
