import { changeStored } from '../faults/change-stored.js';
import { eventually } from '../support/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { Outside } from './outside.js';
import { Replicas } from './replica-boards.js';

const CONFIG = `
limits: { pool: { concurrency: 1 } }
agents:
  person: { consumes: [{ types: [Task] }], limits: [pool], fair_by: payload.tenant, engine: { kind: external } }
`;
const STARTS = 30;
const COPIES = 50_000;

it('the turns of those that wait for a limit read few of them, although the plans were made while few waited', async () => {
  const replicas = new Replicas();
  try {
    const board = await replicas.start(CONFIG);
    const outside = new Outside(board.http);
    const next = async (): Promise<string> => {
      let held = await outside.claim({ agents: ['person'], max: 100 });
      await eventually('one has its place', async () => {
        if (held.length === 0) held = await outside.claim({ agents: ['person'], max: 100 });
        return held.length === 1;
      });
      await outside.send(held[0]!, 'complete', { outputs: [] });
      return held[0]!.inputs[0]!.payload.tenant as string;
    };
    for (let n = 0; n < STARTS; n += 1) for (const tenant of ['A', 'B']) await board.publish('Task', { tenant, n });
    for (let n = 0; n < STARTS; n += 1) await next();
    await changeStored(
      board.app.database.url,
      'set session_replication_role = replica',
      `insert into executions select other.* from executions one, generate_series(1, ${COPIES}) n,
         json_populate_record(one, json_build_object('id', 'copy ' || n, 'seq', 100000 + n)) other
       where one.seq = (select max(seq) from executions where blocked_on is not null and fair_key = '"A"')`,
    );
    const tenants: string[] = [];
    for (let n = 0; n < STARTS / 2; n += 1) tenants.push(await next());
    expect(tenants.filter((tenant) => tenant === 'B').length).toBeGreaterThan(STARTS / 5);
    const { url } = board.app.database;
    // A connection reports what it has read when it ends, at the latest.
    await replicas.stop();
    const [{ read }] = (await queryOnce(
      url,
      `select idx_tup_read::int as read from pg_stat_user_indexes where indexrelname = 'executions_fair_delayed'`,
    )) as [{ read: number }];
    expect(read).toBeGreaterThan(STARTS);
    expect(read).toBeLessThan(COPIES / 10);
  } finally {
    await replicas.close();
  }
});
