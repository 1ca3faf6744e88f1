import { changeStored } from '../faults/change-stored.js';
import { eventually } from '../support/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { changeWhileAnalyzed } from './change-while-analyzed.js';
import { Outside } from './outside.js';
import { Replicas } from './replica-boards.js';

const CONFIG = `
limits: { pool: { concurrency: 1 } }
agents:
  person: { consumes: [{ types: [Task] }], limits: [pool], fair_by: payload.tenant, engine: { kind: external } }
`;
const STARTS = 30;
const COPIES = 50_000;
const KEYS = 2_000;
/** A start passes the keys without executions, in steps that grow, and the entries of rows that have changed since the last vacuum. */
const MOST_ENTRIES_OF_START = KEYS / 10;

const LAST_THAT_WAITS = `select max(seq) from executions where blocked_on is not null and fair_key = '"A"'`;

/** `key`: the SQL for the key of copy `n`. */
const copyTo = (key: string): string =>
  `insert into executions select other.* from executions one, generate_series(1, ${COPIES}) n,
     json_populate_record(one, json_build_object('id', 'copy-' || n, 'seq', 100000 + n, 'fair_key', ${key})) other
   where one.seq = (${LAST_THAT_WAITS})`;

describe('those that wait for a limit, with plans that Postgres has made while few waited', () => {
  let replicas: Replicas;
  let url: string;
  /** Starts and ends the next one, and returns its tenant. */
  let next: () => Promise<unknown>;

  beforeEach(async () => {
    replicas = new Replicas();
    const board = await replicas.start(CONFIG);
    ({ url } = board.app.database);
    const outside = new Outside(board.http);
    next = async () => {
      let held = await outside.claim({ agents: ['person'], max: 100 });
      await eventually('one has its place', async () => {
        if (held.length === 0) held = await outside.claim({ agents: ['person'], max: 100 });
        return held.length === 1;
      });
      expect((await outside.send(held[0]!, 'complete', { outputs: [] })).status).toBe(200);
      return held[0]!.inputs[0]?.payload.tenant;
    };
    for (let n = 0; n < 2 * STARTS; n += 1) for (const tenant of ['A', 'B']) await board.publish('Task', { tenant, n });
    for (let n = 0; n < STARTS; n += 1) await next();
  });

  afterEach(() => replicas.close());

  const entriesRead = async (): Promise<Record<string, number>> => {
    // A connection reports what it has read when it ends, at the latest.
    await replicas.stop();
    const rows = await queryOnce<{ name: string; read: number }>(
      url,
      'select indexrelname as name, idx_tup_read::int as read from pg_stat_user_indexes',
    );
    return Object.fromEntries(rows.map(({ name, read }) => [name, read]));
  };

  it.each([
    ['before they were stored', changeStored],
    ['before their commit', changeWhileAnalyzed],
  ])('read few of them for a turn, although most have the same key, with statistics of %s', async (_, change) => {
    await change(url, 'set session_replication_role = replica', copyTo(`'"A"'`));
    const tenants: unknown[] = [];
    for (let n = 0; n < STARTS / 2; n += 1) tenants.push(await next());
    expect(tenants.filter((tenant) => tenant === 'B').length).toBeGreaterThan(STARTS / 5);
    const { executions_fair_delayed: read } = await entriesRead();
    expect(read).toBeGreaterThan(STARTS);
    expect(read).toBeLessThan(COPIES / 10);
  });

  it('read few of them and few keys for a start, although many of both wait', async () => {
    await changeStored(
      url,
      'set session_replication_role = replica',
      // Every other key has none.
      copyTo(`'"' || 2 * n % ${KEYS} || '"'`),
      `insert into fair_keys (agent, fair_key, turn, weight)
       select agent, '"' || n || '"', max(turn), 1 from fair_keys, generate_series(0, ${KEYS - 1}) n
       where agent like '%pool%' group by agent, n`,
      `update correlations set pending = pending + ${COPIES}`,
    );
    for (let n = 0; n < STARTS; n += 1) await next();
    const read = await entriesRead();
    const ofStart = ['executions_blocked', 'executions_fair_delayed', 'fair_keys_turn', 'fair_keys_key'].map(
      (index) => ({
        index,
        entries: read[index]! / (2 * STARTS),
      }),
    );
    expect(ofStart.filter(({ entries }) => entries > MOST_ENTRIES_OF_START)).toEqual([]);
  });
});
