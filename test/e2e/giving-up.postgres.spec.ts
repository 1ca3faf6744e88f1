import type { Client } from 'pg';

import { Leases } from '../../src/blackboard/execution/leases.js';
import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import { Board } from './board.js';
import { operate } from './operations.js';
import { withoutPolling } from './replica-boards.js';

const CONFIG = `
agents:
  paused: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{}' } }
`;

/** Uses the application on Postgres, and a session that locks a correlation as a publish into it does. */
describe('an execution that is abandoned', () => {
  let board: Board;
  let leases: Leases;

  beforeAll(async () => {
    board = withoutPolling(await Board.start(CONFIG));
    leases = board.app.app.get(Leases, { strict: false });
    await board.http.post('/api/v1/agents/paused/pause').expect(200);
  });

  afterAll(() => board.close());

  const isWaitedFor = async (): Promise<boolean> =>
    (
      await board.app.database.rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).length > 0;

  it.each([
    [
      'because its lease was lost too often',
      `state = 'running', lease_token = 'lost', lease_owner = 'nobody', lease_until = 0, lost_leases = 9`,
      'lost',
      () => leases.rows.takeOverLost(),
    ],
    [
      'because its agent was removed',
      `agent = 'removed'`,
      'agent_removed',
      async () => (await operate(board.http, 'fail', { agent: 'removed' })).done,
    ],
  ])(
    '%s holds no lock while it waits for its correlation, and then finishes',
    async (_why, change, errorType, giveUp) => {
      const correlation = await board.publish('Order', {});
      const own = `correlation_id = '${correlation}'`;
      await connected(board.app.database.url, async (session: Client) => {
        await session.query(`update executions set ${change} where ${own}`);
        await session.query('begin');
        await session.query(`select 1 from correlations where id = '${correlation}' for update`);
        const givenUp = giveUp();
        await eventually('the correlation is waited for', isWaitedFor);
        // Cancelling locks them in this order; if the execution were locked, each would wait for the other.
        const { rowCount } = await session.query(`select 1 from executions where ${own} for update nowait`);
        expect(rowCount).toBe(1);
        await session.query('commit');
        expect(await givenUp).toBe(1);
      });
      expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
      const [, error] = await board.artifacts(correlation);
      expect(error).toMatchObject({ type: 'WorkflowError', payload: { error_type: errorType } });
    },
  );
});
