import { changeStored } from '../faults/change-stored.js';
import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const CONFIG = `
agents:
  person: { consumes: [{ types: [Question] }], engine: { kind: external }, fair_by: payload.tenant, concurrency: 100 }
`;

/** Uses the whole app over HTTP on Postgres, and two connections that write like other processes. */
describe('transactions that use the same keys at the same time', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG);
  });

  afterAll(() => board.close());

  it('do not wait for each other if the keys are new, and the keys take turns as if one had added them', async () => {
    const { url, rows } = board.app.database;
    for (const n of [0, 1, 2, 3]) await board.publish('Question', { tenant: 'none', n });
    const executions = await rows<{ seq: number }>('select seq from executions order by seq');
    const outcomes = await connected(url, (one) =>
      connected(url, async (other) => {
        const add = (client: typeof one, n: number, key: string) =>
          client.query('update executions set fair_key = $1 where seq = $2', [JSON.stringify(key), executions[n]!.seq]);
        for (const client of [one, other]) await client.query("begin; set local lock_timeout to '3s'");
        await add(one, 0, 'a');
        await add(other, 1, 'b');
        const added = await Promise.allSettled([add(one, 2, 'b'), add(other, 3, 'a')]);
        if (added.every(({ status }) => status === 'fulfilled')) await board.publish('Question', { tenant: 'a', n: 4 });
        for (const client of [one, other]) await client.query('commit');
        return added;
      }),
    );
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
    const [first] = await rows<{ id: string }>('select id from artifacts order by seq');
    const { body } = await board.http.get(`/api/v1/artifacts/${first!.id}/explain`).expect(200);
    expect(JSON.stringify(body)).toContain('3 executions with the key \\"a\\" start before it, and 3 keys take turns');

    const held = await new Outside(board.http).claim({ agents: ['person'], max: 10 });
    expect(held.map(({ inputs }) => inputs[0]!.payload.n)).toEqual([0, 1, 3, 2, 4]);
    await eventually('no key has a row', async () => (await rows('select * from fair_keys')).length === 0);
  });

  it('do not keep the executions of other keys from their turn while they hold a key without any', async () => {
    const correlation = await board.publish('Question', { tenant: 'a' });
    await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
    const held = await connected(board.app.database.url, async (client) => {
      await client.query('begin; select 1 from fair_keys for key share');
      await board.publish('Question', { tenant: 'b' });
      return new Outside(board.http).claim({ agents: ['person'], max: 1 });
    });
    expect(held.map(({ inputs }) => inputs[0]!.payload)).toEqual([{ tenant: 'b' }]);
  });

  it('do not keep an earlier turn for a key that they hold while it has no executions', async () => {
    const outside = new Outside(board.http);
    const tenantsOf = async (max: number): Promise<unknown[]> =>
      (await outside.claim({ agents: ['person'], max })).map(({ inputs }) => inputs[0]!.payload.tenant);
    await connected(board.app.database.url, async (client) => {
      await board.publish('Question', { tenant: 'late' });
      await client.query('begin; select 1 from fair_keys for key share');
      expect(await tenantsOf(1)).toEqual(['late']);
      for (let n = 0; n < 8; n += 1) await board.publish('Question', { tenant: 'early', n });
      for (let n = 0; n < 4; n += 1) expect(await tenantsOf(1)).toEqual(['early']);
      for (let n = 0; n < 4; n += 1) await board.publish('Question', { tenant: 'late', n });
      await client.query('commit');
    });
    // It may come a turn early, and not four.
    expect((await tenantsOf(6)).indexOf('early')).toBeLessThanOrEqual(2);
  });

  it('begin in the same round if they add keys while the last key ends', async () => {
    const { url, rows } = board.app.database;
    const outside = new Outside(board.http);
    const tenantsOf = async (max: number): Promise<unknown[]> =>
      (await outside.claim({ agents: ['person'], max })).map(({ inputs }) => inputs[0]!.payload.tenant);
    const publish = async (tenant: string, count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) await board.publish('Question', { tenant });
    };
    await tenantsOf(50);
    await publish('late', 3);
    await changeStored(url, `update executions set available_at = 32503680000000 where fair_key = '"late"'`);
    await publish('busy', 6);
    for (let n = 0; n < 5; n += 1) expect(await tenantsOf(1)).toEqual(['busy']);
    await connected(url, async (client) => {
      await client.query(`begin; update executions set available_at = null where fair_key = '"late"'`);
      expect(await tenantsOf(2)).toEqual(['busy']);
      await eventually('the last key has no row', async () => (await rows('select * from fair_keys')).length === 0);
      await publish('early', 4);
      await client.query('commit');
    });
    expect((await tenantsOf(7)).slice(0, 4).sort()).toEqual(['early', 'early', 'late', 'late']);
  });

  it('do not move a key that others pass behind their next turns', async () => {
    const change = (...statements: string[]) => changeStored(board.app.database.url, ...statements);
    const outside = new Outside(board.http);
    const tenantsOf = async (max: number): Promise<unknown[]> =>
      (await outside.claim({ agents: ['person'], max })).map(({ inputs }) => inputs[0]!.payload.tenant);
    for (const tenant of ['old', 'recent', ...Array<string>(6).fill('busy')])
      await board.publish('Question', { tenant });
    for (const [tenant, turn] of Object.entries({ old: 3, recent: 5.5, busy: 6 }))
      await change(`update fair_keys set turn = ${turn} where fair_key = '"${tenant}"'`);
    await change(`update executions set configuration = 'elsewhere' where fair_key in ('"old"', '"recent"')`);
    expect(await tenantsOf(1)).toEqual(['busy']);
    await change(`update executions set configuration = null where fair_key in ('"old"', '"recent"')`);
    expect((await tenantsOf(3)).slice(0, 2)).toEqual(['old', 'recent']);
  });
});

it('a claim is short although many executions of a key wait while many keys have no more', async () => {
  const board = await Board.start(CONFIG);
  const { url, rows } = board.app.database;
  const outside = new Outside(board.http);
  const claimOne = async (): Promise<void> =>
    expect(await outside.claim({ agents: ['person'], max: 1 })).toHaveLength(1);
  await board.publish('Question', { tenant: 'many' });
  // Postgres keeps plans for prepared statements that were made while the queue was small.
  for (let n = 0; n < 50; n += 1) {
    await board.publish('Question', { tenant: 'many' });
    await claimOne();
  }
  await changeStored(
    url,
    // The key has its row already, and the triggers would take seconds.
    'set session_replication_role = replica',
    `insert into executions select other.* from executions one, generate_series(1, 20000) n,
       json_populate_record(one, json_build_object('id', 'copy ' || n, 'seq', 1000 + n)) other where one.state = 'pending'`,
    `insert into fair_keys (agent, fair_key, turn, weight) select 'person', 'idle ' || n, 0, 1 from generate_series(1, 1000) n`,
  );
  const started = performance.now();
  await claimOne();
  const claimMs = performance.now() - started;
  expect(await rows(`select * from fair_keys where fair_key like 'idle %'`)).toEqual([]);
  await board.close();
  // It takes seconds if Postgres reads all ready executions of the agent for each key.
  expect(claimMs).toBeLessThan(3_000);
});
