// Opens the web app of the application in a real browser, with a stream of live events that the test writes.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { eventually } from '../../support/eventually.js';
import { describeDashboard, type OpenedPage } from '../../support/page-checks.js';

const CONFIG = 'types: { Order: { schema: { type: object, properties: { n: { type: integer } } } } }';

/** The views, and the requests that they send again. */
const VIEWS = [
  ['/artifacts', '/api/v1/artifacts?'],
  ['/correlations', '/api/v1/correlations?'],
  ['/changelog', '/api/v1/changelog/events?'],
] as const;

describeDashboard('the live connection of the web app', { config: CONFIG }, (dashboard) => {
  let server: Server;
  let stream: ServerResponse | undefined;

  beforeAll(async () => {
    server = createServer((_request, response) => void (stream = response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens the view with the test's stream, and waits until it has asked for what it shows after the stream began. */
  async function openLive(path: string, request: string): Promise<OpenedPage> {
    // Wide enough for the column with the correlation.
    const tab = await dashboard.open({ width: 1_600 });
    const { page } = tab;
    // The stream of a worker could not be exchanged.
    await page.addInitScript('delete window.SharedWorker');
    const { port } = server.address() as AddressInfo;
    await page.route('**/changelog/stream*', (route) => route.continue({ url: `http://127.0.0.1:${port}/` }));
    stream = undefined;
    const answer = (): Promise<unknown> => page.waitForResponse((response) => response.url().includes(request));
    const first = answer();
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    await first;
    await eventually('the page has asked for the stream', () => stream !== undefined);
    // A stream that begins makes the page fetch once more.
    const fetched = answer();
    stream!.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    await page.getByText('Live', { exact: true }).waitFor();
    await fetched;
    return tab;
  }

  const sendGap = (): void =>
    void stream!.write(`id: 1\ndata: ${JSON.stringify({ seq: 1, event_type: 'gap', to_seq: 2 })}\n\n`);

  it.each(VIEWS)('fetches again after a gap, since the stream lacks what happened: %s', async (path, request) => {
    const { page, complaints } = await openLive(path, request);
    const id = `behind-${request.split('/').at(-1)!.replace('?', '')}`;
    await dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', id)
      .send({ type: 'Order', payload: { n: 1 } })
      .expect(200);
    const row = page.getByRole('row').filter({ has: page.getByTitle(id) });
    expect(await row.count()).toBe(0);
    sendGap();
    await row.first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('fetches after a gap nothing that does not follow from events', async () => {
    const { page, complaints } = await openLive('', '/metrics');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    sendGap();
    const live = ['/metrics', '/api/v1/activity', '/api/v1/correlations', '/api/v1/executions', '/api/v1/processes'];
    await eventually('the page has asked again', () => live.every((path) => asked.includes(path)));
    // A view also asks from time to time, and may do so now.
    expect([...new Set(asked)].toSorted()).toEqual(live.toSorted());
    expect(complaints).toEqual([]);
  });
});
