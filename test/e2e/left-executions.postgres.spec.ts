import { Leases } from '../../src/blackboard/execution/leases.js';
import { connected } from '../support/postgres-cluster.js';
import { GATE, openAll, started } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas } from './replica-boards.js';

const CONFIG = `
agents:
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 1
    timeout: 1h
`;

/** Uses apps over HTTP on one Postgres. SQL gives an execution the lease that a crash leaves. */
describe('the executions of a process that has ended', () => {
  let replicas: Replicas;

  beforeEach(() => {
    replicas = new Replicas();
  });

  afterEach(() => replicas.close());

  // No heartbeat takes over the execution before the test wants it.
  const start = (): Promise<Board> =>
    replicas.start(CONFIG, { files: { 'gate.js': GATE }, settings: { leaseMs: 600_000 } });

  const stateOf = async (board: Board, correlation: string): Promise<string> => {
    const sql = `select state from executions where correlation_id = '${correlation}'`;
    return (await board.app.database.rows<{ state: string }>(sql))[0]!.state;
  };

  it('count for the concurrency of their agent until they are taken over', async () => {
    const ended = await start();
    const left = await ended.publish('Gated', { n: 1, batch: 'left' });
    await started('left', 1);
    await connected(ended.app.database.url, async (session) => {
      const own = `correlation_id = '${left}'`;
      await session.query(
        `update executions set lease_owner = 'gone', lease_token = 'lost', lease_until = 0 where ${own}`,
      );
      await replicas.stop();
      // While another transaction has locked it, it is not taken over.
      await session.query('begin');
      await session.query(`select 1 from executions where ${own} for update`);
      const board = await start();
      const next = await board.publish('Gated', { n: 2, batch: 'left' });
      expect([await stateOf(board, left), await stateOf(board, next)]).toEqual(['running', 'pending']);
      const { body } = await board.http.get(`/api/v1/correlations/${next}/waiting`).expect(200);
      expect(body).toMatchObject({
        items: [{ kind: 'concurrency', limit: 'concurrency of gate: 1 of 1 used, 1st of 1' }],
      });
      await session.query('commit');
      await board.app.app.get(Leases, { strict: false }).rows.takeOverLost();
      await openAll(['left'], async () => (await stateOf(board, next)) === 'completed');
      expect(await board.ended(left)).toMatchObject({ state: 'completed' });
    });
  });
});
