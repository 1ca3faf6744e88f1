// Opens each view of the web app once in a real browser, with content. `npm run test:dashboard` tests what each can do.
import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard } from '../support/page-checks.js';
import { answers, Receiver } from '../support/receiver.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { item: { type: string } } } }
agents:
  packer:
    consumes: [{ types: [Order] }]
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
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
`;

const FILES = { 'broken.js': "export default () => { throw new Error('out of paper'); };" };

const SETTINGS = { outboundAllow: ['127.0.0.1/32'] };

describeDashboard('every view', { config: CONFIG, files: FILES, settings: SETTINGS }, (dashboard) => {
  let receiver: Receiver;
  let artifact: string;
  let batch: string;

  beforeAll(async () => {
    receiver = await Receiver.start();
    receiver.on('/hook', answers(204));
    const { http } = dashboard.app;
    await http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'order-1')
      .send({ type: 'Order', payload: { item: 'a lamp' }, webhook: { url: receiver.url('/hook') } })
      .expect(200);
    const { body: list } = await http.get('/api/v1/artifacts?type=Order&correlation_id=order-1').expect(200);
    artifact = (list as { items: { id: string }[] }).items[0]!.id;
    const started = await http
      .post('/run/batch')
      .send({ agent_name: 'packer', batch_inputs: [{ item: 'a chair' }] })
      .expect(200);
    batch = (started.body as { batch_id: string }).batch_id;
  });
  afterAll(() => receiver.close());

  const shows = (page: Page, text: string) =>
    page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();

  it.each<[name: string, path: () => string, title: string, content: string]>([
    ['the overview', () => '', 'Overview', 'out of paper'],
    ['correlations', () => '/correlations', 'Correlations', 'order-1'],
    ['a correlation', () => '/correlations/order-1', 'order-1', 'approver'],
    ['artifacts', () => '/artifacts', 'Artifacts', '{"item":"a lamp"}'],
    ['an artifact', () => `/artifacts/${artifact}`, 'Order', 'a lamp'],
    ['agents', () => '/agents', 'Agents', 'joiner'],
    ['an agent', () => '/agents/packer', 'packer', 'Run it alone'],
    ['the graph', () => '/graph', 'Graph', 'joiner'],
    ['executions', () => '/executions', 'Executions', 'out of paper'],
    ['failures', () => '/executions?view=failures', 'Executions', 'out of paper'],
    ['what waits', () => '/waiting', 'Waiting', 'Invoice'],
    ['the inbox', () => '/inbox', 'Inbox', 'approver'],
    ['batches', () => '/batches', 'Batches', 'packer'],
    ['a batch', () => `/batches/${batch}`, 'Batch', '0 of 1'],
    ['a new batch', () => '/batches/new', 'Start a batch', 'CSV file with a header'],
    ['the changelog', () => '/changelog', 'Changelog', 'Order'],
    ['deliveries', () => '/deliveries', 'Deliveries', 'order-1'],
    ['publishing', () => '/publish', 'Publish', 'item'],
  ])('is there: %s', async (_, path, title, content) => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard${path()}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await shows(page, content);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
