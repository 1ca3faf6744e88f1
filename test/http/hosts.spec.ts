import { Board } from '../e2e/board.js';
import { WebSocketReader } from '../support/changelog-readers.js';

const CONFIG = `
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: '{}' } }
`;

const POD = '10.1.2.3:8344';
const REFUSED = (host: string): object => ({ detail: `Host ${host} is not allowed; add it to allowed_hosts` });

/** Uses the application, HTTP and WebSockets. The setting binds it beyond loopback; here it is reached on loopback. */
describe('bound beyond loopback', () => {
  let listed: Board;
  let open: Board;
  beforeAll(async () => {
    listed = await Board.start(CONFIG, {
      settings: { host: '0.0.0.0', allowedHosts: ['desk.test', '[fd00::1]', '10.9.9.9:80'] },
    });
    open = await Board.start(CONFIG, { settings: { host: '0.0.0.0' } });
  });
  afterAll(async () => {
    await listed.close();
    await open.close();
  });

  const get = (board: Board, path: string, host: string) => board.http.get(path).set('Host', host);

  it.each([
    'evil.test',
    'desk.test.evil.test',
    'evil.test:8344',
    POD,
    '10.9.9.9',
    '10.9.9.9:8344',
    '[fd00::2]',
    '[fd00::1',
    ':8344',
    '',
  ])('a request for %j is refused if allowed_hosts is set, on every route except probes', async (host) => {
    for (const path of [
      '/api/v1/agents',
      '/agents',
      '/docs',
      '/openapi.json',
      '/nowhere',
      '/health/../agents',
      '/metrics/x',
      '/healthy',
    ]) {
      const { status, body } = await get(listed, path, host);
      expect([path, status, body]).toEqual([path, 403, REFUSED(host)]);
    }
    const { status, body } = await listed.http
      .post('/api/v1/artifacts')
      .set('Host', host)
      .send({ type: 'Order', payload: {} });
    expect([status, body]).toEqual([403, REFUSED(host)]);
    for (const path of ['/health', '/health/live', '/health/ready', '/metrics', '/health?verbose'])
      expect((await get(listed, path, host)).status).toBe(200);
  });

  it.each([
    'desk.test',
    'DESK.test:1234',
    'desk.test.',
    'desk.test.:80',
    '[fd00::1]',
    '[FD00:0:0::1]:8344',
    '10.9.9.9:80',
    'localhost',
    'localhost.',
    '127.0.0.1:8344',
    '[::1]',
    '[0:0:0:0:0:0:0:1]:80',
  ])('a request for %s is served', async (host) => {
    expect((await get(listed, '/api/v1/agents', host)).status).toBe(200);
  });

  it.each(['/ws', '/ws/changelog'])('a WebSocket at %s passes the same check', async (path) => {
    await expect(WebSocketReader.connect(listed.app.url, path, { Host: 'evil.test' })).rejects.toThrow(
      `403 ${JSON.stringify(REFUSED('evil.test'))}`,
    );
    const reader = await WebSocketReader.connect(listed.app.url, path, { Host: 'desk.test' });
    reader.close();
  });

  it('without allowed_hosts, every name is served', async () => {
    for (const host of ['evil.test', POD]) expect((await get(open, '/api/v1/agents', host)).status).toBe(200);
  });
});

describe('bound to loopback', () => {
  it('every route is checked, including probes, for any name of the address', async () => {
    for (const host of ['127.0.0.1', '127.0.1.1', '::1', '0:0:0:0:0:0:0:1']) {
      const board = await Board.start(CONFIG, { settings: { host, allowedHosts: ['desk.test'] } });
      for (const path of ['/api/v1/agents', '/health', '/metrics']) {
        expect([host, path, (await board.http.get(path).set('Host', POD)).status]).toEqual([host, path, 403]);
        expect([host, path, (await board.http.get(path).set('Host', 'desk.test')).status]).toEqual([host, path, 200]);
      }
      await board.close();
    }
  });
});
