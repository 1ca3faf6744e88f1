import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import type { TestAppOptions } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { Board } from './board.js';
import { waitingFor } from './waiting-for.js';

const CONFIG = `
types:
  Order: {}
  Left: {}
  Right: {}
  Flaky: {}
  Parcel: {}
limits:
  dock: { rate: 1/1d }
agents:
  approver:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
  resting:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": 1}' }
  joiner:
    consumes: [{ types: [Left, Right] }]
    publishes: [{ type: Joined }]
    engine: { kind: expression, expression: '{"n": 1}' }
  flaky:
    consumes: [{ types: [Flaky] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.missing}' }
    retry: { attempts: 2, delay: 1h }
  shipper:
    consumes: [{ types: [Parcel] }]
    publishes: [{ type: Echo }]
    limits: [dock]
    engine: { kind: expression, expression: '{"n": 1}' }
`;

describe('metrics of what waits', () => {
  let board: Board;
  beforeAll(async () => {
    board = await Board.start(CONFIG, { settings: { maxPendingExecutions: 70, maxWaitingArrivals: 80 } });
  });
  afterAll(() => board.close());

  const samples = async (): Promise<string[]> => (await board.http.get('/metrics').expect(200)).text.split('\n');

  it('say what each execution and each artifact waits for', async () => {
    await board.http.post('/api/v1/agents/resting/pause').expect(200);
    await board.publish('Order', {});
    await board.publish('Order', {});
    await board.publish('Left', {});
    await board.publish('Left', {}, { visibility: { kind: 'After', ttl: 'PT1H' } });
    await board.publish('Flaky', {});
    await board.publish('Parcel', {});
    await board.publish('Parcel', {});
    // The counts may be a moment old.
    await eventually('the metrics say what waits', async () => {
      const all = await samples();
      return [
        'starling_waiting_executions{waits_for="slot"} 0',
        'starling_waiting_executions{waits_for="claim"} 2',
        'starling_waiting_executions{waits_for="retry"} 1',
        'starling_waiting_executions{waits_for="limit"} 1',
        'starling_waiting_executions{waits_for="resume"} 2',
        'starling_waiting_artifacts{waits_for="join"} 1',
        'starling_waiting_artifacts{waits_for="release"} 1',
        'starling_queue_depth 6',
      ].every((line) => all.includes(line));
    });
  });

  it('count what the list of executions has', async () => {
    const list = async (query: object): Promise<string[]> => {
      const { body } = await board.http.get('/api/v1/executions').query(query).expect(200);
      return (body as { items: { agent: string }[] }).items.map(({ agent }) => agent);
    };
    expect(await list({ waits_for: 'slot' })).toEqual([]);
    expect(await list({ waits_for: 'claim' })).toEqual(['approver', 'approver']);
    expect(await list({ waits_for: 'retry' })).toEqual(['flaky']);
    expect(await list({ waits_for: 'limit' })).toEqual(['shipper']);
    expect((await list({ state: 'pending' })).sort()).toEqual([
      'approver',
      'approver',
      'flaky',
      'resting',
      'resting',
      'shipper',
    ]);
    expect(await list({ waits_for: 'resume' })).toEqual(['resting', 'resting']);
    expect(await list({ waits_for: 'resume', limit: 1, offset: 1 })).toEqual(['resting']);
    expect(await list({ waits_for: 'claim', external: true, state: 'pending' })).toHaveLength(2);
    expect(await list({ external: true })).toHaveLength(2);
    for (const other of [{ state: 'running' }, { without_agent: true }, { agent: 'flaky' }])
      expect(await list({ waits_for: 'claim', ...other })).toEqual([]);
  });

  it('have the limits beside the counts', async () => {
    expect(await samples()).toEqual(
      expect.arrayContaining([
        'starling_limit{setting="max_pending_executions"} 70',
        'starling_limit{setting="max_waiting_arrivals"} 80',
        'starling_limit{setting="max_executions_without_agent"} 100000',
      ]),
    );
  });
});

describe('what waits for a configuration that no process has', () => {
  const folder = new ConfigurationFolder();
  const file = folder.write('candidate.yaml', CONFIG);
  const settings = { replayConfigs: [{ name: 'candidate', file }] };
  let board: Board;
  const start = async (options: TestAppOptions): Promise<void> => {
    board = await Board.start(CONFIG, { folder: folder.path, ...options });
  };
  afterAll(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  /** Replays the correlation with the other configuration. */
  const replay = async (correlation: string): Promise<string> => {
    const body = { mode: 'full', configuration: 'candidate' };
    const answer = await board.http.post(`/api/v1/correlations/${correlation}/replay`).send(body).expect(200);
    return (answer.body as ReplayBody).correlation_id;
  };
  const waits = (reason: string, ids: string[]): Promise<void> =>
    eventually(`${ids.length} wait for ${reason}`, async () => {
      const { count, listed } = await waitingFor(board, reason);
      return count === ids.length && listed.join() === ids.join();
    });

  it('waits neither for its next attempt nor for a limit', async () => {
    await start({ settings });
    const parcel = await board.publish('Parcel', {});
    await board.ended(parcel);
    const flaky = await board.publish('Flaky', {});
    await waits('retry', [flaky]);
    await board.http.post(`/api/v1/correlations/${flaky}/cancel`).expect(200);
    const [limited, retried] = [await replay(parcel), await replay(flaky)];
    await waits('limit', [limited]);
    await waits('retry', [retried]);
    await board.close();
    await start({});
    for (const reason of ['slot', 'claim', 'retry', 'limit', 'resume'])
      expect([reason, await waitingFor(board, reason)]).toEqual([reason, { count: 0, listed: [] }]);
    const { text } = await board.http.get('/metrics?name=starling_executions_without_configuration').expect(200);
    expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual(
      ['flaky', 'shipper'].map(
        (agent) => `starling_executions_without_configuration{agent="${agent}",configuration="candidate"} 1`,
      ),
    );
    await board.close();
    await start({ settings });
    await waits('limit', [limited]);
    await waits('retry', [retried]);
  });
});
