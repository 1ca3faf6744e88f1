import { changeStored } from '../faults/change-stored.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { changeWhileAnalyzed } from './change-while-analyzed.js';
import { Outside } from './outside.js';
import { Replicas } from './replica-boards.js';

const CONFIG = `
agents:
  double:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: function, module: ./double.js }
  person: { consumes: [{ types: [Question] }], engine: { kind: external } }
`;
// An agent that only computes would end in the transaction that adds its execution.
const FILES = { 'double.js': 'export default ([{ payload }]) => ({ n: payload.n * 2 });' };
const CROWD = 64;
const COPIES = 50_000;
const CLAIMS = 20;

describe('plans that Postgres has made while few executions were stored', () => {
  let replicas: Replicas;

  beforeEach(() => {
    replicas = new Replicas();
  });

  afterEach(() => replicas.close());

  it('do not read all executions when some end together', async () => {
    const board = await replicas.start(CONFIG, { files: FILES });
    const { url } = board.app.database;
    const crowd = async (): Promise<void> => {
      const answers = await Promise.all(Array.from({ length: CROWD }, (_, n) => board.publishSync('Number', { n })));
      expect(answers.filter(({ completed }) => completed)).toHaveLength(CROWD);
    };
    // Each connection makes the final plan of a statement when it runs it for the sixth time.
    for (let times = 0; times < 30; times += 1) await crowd();
    await changeStored(
      url,
      'set session_replication_role = replica',
      `insert into executions select other.* from executions one, generate_series(1, ${COPIES}) n,
         json_populate_record(one, json_build_object('id', 'copy ' || n, 'seq', 100000 + n)) other
       where one.seq = (select max(seq) from executions)`,
    );
    await crowd();
    // A connection reports what it has read when it ends, at the latest.
    await replicas.stop();
    const [{ read }] = (await queryOnce(
      url,
      `select idx_tup_read::int as read from pg_stat_user_indexes where indexrelname = 'executions_by_id'`,
    )) as [{ read: number }];
    expect(read).toBeGreaterThan(CROWD);
    expect(read).toBeLessThan(COPIES);
  });

  it('do not read all that wait for the claim of a client, with statistics of before their commit', async () => {
    const board = await replicas.start(CONFIG, { files: FILES });
    const { url } = board.app.database;
    const outside = new Outside(board.http);
    const claimNext = async (): Promise<void> => {
      const [held] = await outside.claim({ agents: ['person'], max: 1 });
      expect((await outside.send(held!, 'complete', { outputs: [] })).status).toBe(200);
    };
    for (let n = 0; n < 2 * CLAIMS; n += 1) await board.publish('Question', { n });
    for (let n = 0; n < CLAIMS; n += 1) await claimNext();
    await changeWhileAnalyzed(
      url,
      'set session_replication_role = replica',
      `insert into executions select other.* from executions one, generate_series(1, ${COPIES}) n,
         json_populate_record(one, json_build_object('id', 'copy ' || n, 'seq', 100000 + n)) other
       where one.seq = (select max(seq) from executions where agent = 'person')`,
    );
    for (let n = 0; n < CLAIMS; n += 1) await claimNext();
    await replicas.stop();
    // Counts of those that wait read the index of claims, too.
    const [{ read }] = (await queryOnce(
      url,
      `select idx_tup_read::int as read from pg_stat_user_indexes where indexrelname = 'executions_pkey'`,
    )) as [{ read: number }];
    expect(read).toBeGreaterThan(CLAIMS);
    expect(read).toBeLessThan(COPIES / 10);
  });
});
