import { limitLock } from '../../src/blackboard/limits/shared-limits.js';
import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const CONFIG = `
limits: { first: { concurrency: 5 }, second: { concurrency: 5 } }
agents:
  clerk: { consumes: [{ types: [Form] }], limits: [first], engine: { kind: external } }
  person: { consumes: [{ types: [Task] }], limits: [second], engine: { kind: external } }
`;
const OTHERS_WAIT = 'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))';

test('a claim locks the limits of all its agents together, in the same order as other transactions', async () => {
  const board = await Board.start(CONFIG);
  try {
    const outside = new Outside(board.http);
    await board.publish('Form', {});
    await board.publish('Task', {});
    await connected(board.app.database.url, async (session) => {
      await session.query('begin');
      await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [limitLock('first')]);
      const claiming = outside.claim({ agents: ['person', 'clerk'], max: 2 });
      await eventually('the claim waits', async () => (await session.query(OTHERS_WAIT)).rowCount! > 0);
      // Waiting for it here would be a deadlock, if the claim has locked it already.
      const { rows } = await session.query('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as "isLocked"', [
        limitLock('second'),
      ]);
      await session.query('commit');
      expect((await claiming).map(({ agent }) => agent).sort()).toEqual(['clerk', 'person']);
      expect(rows).toEqual([{ isLocked: true }]);
    });
  } finally {
    await board.close();
  }
});
