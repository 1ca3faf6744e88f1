import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    timeout: 50h
`;
const HOUR = 3_600_000;

/** Uses the whole app over HTTP on a database. The clock is faked: an hour passes while a heartbeat renews leases. */
test('a heartbeat that takes longer than a lease does not take over what its own process runs', async () => {
  const clock = new ManualClock();
  const board = await Board.start(CONFIG, { clock, files: { 'gate.js': GATE }, settings: { shutdownGraceMs: 0 } });
  try {
    const correlation = await board.publish('Gated', { n: 1, batch: 'slow' });
    await started('slow', 1);
    clock.advance(HOUR);
    await eventually('the lease is renewed, or lost', async () => {
      const sql = `select 1 from executions where lease_until > ${clock.now()} or lost_leases > 0`;
      return (await board.app.database.rows(sql)).length > 0;
    });
    await eventually('no execution runs', async () => {
      gatesOf('slow').at(-1)!.open();
      return (await board.status(correlation)).state === 'completed';
    });
    expect(gatesOf('slow')).toHaveLength(1);
  } finally {
    await board.close();
  }
});
