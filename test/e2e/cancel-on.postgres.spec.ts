import type { Client } from 'pg';

import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  person: { consumes: [{ types: [Task] }], engine: { kind: external }, cancel_on: { types: [Withdrawn], key: payload.order } }
`;

/** Uses the application on Postgres, and a session that computes a key as another process does. */
describe('cancel_on', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG);
  });

  afterAll(() => board?.close());

  const state = async (correlation_id: string): Promise<string> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
    return (body as { items: { state: string }[] }).items[0]!.state;
  };

  const isWaitedFor = async (): Promise<boolean> =>
    (
      await board.app.database.rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).length > 0;

  it('cancels an execution whose key another process computes while others are cancelled', async () => {
    await board.publish('Task', { order: 'A' }, { correlation: 'known' });
    await board.publish('Task', { order: 'A' }, { correlation: 'unknown' });
    const { url } = board.app.database;
    await connected(url, async (session: Client) => {
      await session.query(`update executions set cancel_key = '' where correlation_id = 'unknown'`);
      await session.query('begin');
      await session.query(`select 1 from correlations where id = 'known' for update`);
      await board.publish('Withdrawn', { order: 'A' });
      await eventually('the correlation is waited for', isWaitedFor);
      await connected(url, (other: Client) =>
        other.query(
          `update executions set cancel_key = (select cancel_key from executions where correlation_id = 'known')
          where correlation_id = 'unknown'`,
        ),
      );
      await session.query('commit');
    });
    for (const correlation of ['known', 'unknown'])
      await eventually(`${correlation} is cancelled`, async () => (await state(correlation)) === 'cancelled');
    await eventually(
      'nothing waits to be cancelled',
      async () => (await board.app.database.rows('select id from cancel_requests')).length === 0,
    );
  });
});
