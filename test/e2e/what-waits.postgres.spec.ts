import { GATE, gatesOf, started } from './batch-board.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const CONFIG = `
agents:
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js } }
  noter: { consumes: [{ types: [Note] }], publishes: [{ type: Noted }], engine: { kind: expression, expression: '{"ok": true}' } }
`;

interface Waiting {
  items: { kind: string; agent: string }[];
}

/** Uses two apps, one for each role, on one Postgres. */
describe('what waits for another process', () => {
  let replicas: Replicas;

  beforeEach(() => (replicas = new Replicas()));
  afterEach(() => replicas.close());

  it('is listed as waiting for a slot while that process runs as many executions as it may', async () => {
    const files = { 'gate.js': GATE };
    const server = await replicas.start(CONFIG, { files, role: SERVER });
    await replicas.start(CONFIG, { files, role: WORKER, settings: { maxConcurrentExecutions: 1 } });
    const waiting = async (): Promise<Waiting['items']> =>
      ((await server.http.get('/api/v1/correlations/s/waiting').expect(200)).body as Waiting).items;
    await server.publish('Gated', { n: 1, batch: 'other' }, { correlation: 's' });
    await started('other', 1);
    await server.publish('Note', {}, { correlation: 's' });
    expect(await waiting()).toMatchObject([
      { kind: 'running', agent: 'gate' },
      { kind: 'slots', agent: 'noter' },
    ]);
    gatesOf('other')[0]!.open();
    expect(await server.ended('s')).toMatchObject({ state: 'completed' });
    expect(await waiting()).toEqual([]);
  });
});
