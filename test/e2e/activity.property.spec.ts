import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { Retention } from '../../src/blackboard/retention/retention.js';
import { ManualClock } from '../support/manual-clock.js';
import { QUEUED } from '../support/queued-agents.js';
import { printedSeed, Random } from '../support/random.js';
import { type Activity, activityOf, type ModelEvent, STEPS_OF, withExactQuantiles } from './activity-model.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { withoutPolling } from './replica-boards.js';

const ATTEMPTS: Record<string, number> = { reader: 3, sorter: 1 };
const AGENTS = ['echo', ...Object.keys(ATTEMPTS)];

const CONFIG = `
agents:
  idle:
    consumes: [{ types: [Never] }]
    publishes: [{ type: Nothing }]
    engine: { kind: expression, expression: 'null' }
  echo:
    consumes: [{ types: [Call] }]
    publishes: [{ type: Nothing }]
    engine: { kind: function, module: ./echo.js }
${Object.entries(ATTEMPTS)
  .map(
    ([name, attempts]) => `
  ${name}:
    consumes: [{ types: [For_${name}] }]
    publishes: [{ type: Nothing }]
    engine: { kind: external }
    timeout: 30d
    concurrency: 100
    retry: { attempts: ${attempts}, delay: 1s }`,
  )
  .join('')}
`;

const OPERATIONS = 400;
const HOUR_MS = 3_600_000;

/**
 * Uses an application, its database and HTTP. The clock stands still until the test moves it, so that every latency is
 * known. The expected answers come from a list of all events.
 */
describe('the activity of agents under a random workload', () => {
  const random = new Random(printedSeed());
  const clock = new ManualClock();
  const since = clock.now();
  const events: ModelEvent[] = [];
  const held: (Held & { claimedAt: number })[] = [];
  const started = new Set<string>();
  const failed = new Set<string>();
  let retriedByHand = 0;
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    // A rollup that the test asks for must not join one that began before the latest events.
    board = withoutPolling(await Board.start(CONFIG, { clock, files: QUEUED }));
    outside = new Outside(board.http);
  });

  afterAll(() => board.close());

  const pick = <T>(from: readonly T[]): T => from[random.between(0, from.length - 1)]!;
  const agentOutside = (): string => pick(Object.keys(ATTEMPTS));
  const add = (agent: string, kind: ModelEvent['kind'], latency: number | null): void =>
    void events.push({ agent, kind, at: clock.now(), latency });

  /** Small waits and long ones, up to some hours. */
  const advance = (): void => clock.advance(Math.round(10 ** (random.next() * 7)));

  async function claim(): Promise<void> {
    const agent = agentOutside();
    for (const one of await outside.claim({ agents: [agent], max: random.between(1, 5) })) {
      held.push({ ...one, claimedAt: clock.now() });
      if (started.has(one.execution_id)) continue;
      started.add(one.execution_id);
      const { created_at, attempts } = (await outside.execution(one.execution_id)) as {
        created_at: string;
        attempts: unknown[];
      };
      // After a retry by hand, it has attempts already.
      const isFirst = attempts.length === 1;
      add(agent, 'started', isFirst ? clock.now() - Date.parse(created_at) : null);
    }
  }

  async function endOne(how: 'complete' | 'fail' | 'release'): Promise<void> {
    if (held.length === 0) return;
    const [one] = held.splice(random.between(0, held.length - 1), 1);
    const { agent, attempt, claimedAt, execution_id } = one!;
    const body = { complete: { output: null }, fail: { error_message: 'it broke' }, release: {} }[how];
    expect(await outside.send(one!, how, body)).toMatchObject({ status: 200 });
    const duration = clock.now() - claimedAt;
    if (how === 'complete') add(agent, 'completed', duration);
    if (how !== 'fail') return;
    if (attempt < ATTEMPTS[agent]!) return add(agent, 'retried', null);
    add(agent, 'failed', duration);
    failed.add(execution_id);
  }

  async function retryByHand(): Promise<void> {
    const [id] = failed;
    if (id === undefined) return;
    failed.delete(id);
    started.delete(id);
    retriedByHand += 1;
    await board.http.post(`/api/v1/executions/${id}/retry`).expect(200);
  }

  async function cancelSome(): Promise<void> {
    const correlation = await board.publish(`For_${agentOutside()}`, {});
    await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
  }

  async function call(): Promise<void> {
    expect(await board.publishSync('Call', {})).toMatchObject({ completed: true });
    add('echo', 'started', 0);
    add('echo', 'completed', 0);
  }

  async function look(): Promise<void> {
    const window = pick(Object.keys(STEPS_OF));
    const step = pick(STEPS_OF[window]!);
    const agent = random.next() < 0.3 ? pick([...AGENTS, 'idle']) : undefined;
    const query = { window, step, ...(agent !== undefined && { agent }) };
    const expected = activityOf(events, { since, now: clock.now() }, query);
    const { body } = await board.http.get('/api/v1/activity').query(query).expect(200);
    expect(withExactQuantiles(body as Activity, expected)).toEqual(expected);
  }

  const OPERATION: [weight: number, run: () => Promise<void> | void][] = [
    [25, async () => void (await board.publish(`For_${agentOutside()}`, {}))],
    [15, claim],
    [18, () => endOne('complete')],
    [12, () => endOne('fail')],
    [3, () => endOne('release')],
    [4, retryByHand],
    [2, cancelSome],
    [5, call],
    [14, advance],
    [3, () => board.app.app.get(Rollups, { strict: false }).run()],
    [2, () => board.app.app.get(Retention, { strict: false }).run()],
    [12, look],
  ];

  it('is counted exactly, with quantiles that differ by at most 10 %', async () => {
    const weights = OPERATION.reduce((sum, [weight]) => sum + weight, 0);
    for (let done = 0; done < OPERATIONS; done += 1) {
      let point = random.next() * weights;
      await OPERATION.find(([weight]) => (point -= weight) < 0)![1]();
    }
    await look();
    expect(events.length).toBeGreaterThan(100);
  });

  it('equals the executions that exist', async () => {
    const listed = async (query: object): Promise<number> => {
      const { body } = await board.http
        .get('/api/v1/executions')
        .query({ limit: 500, ...query })
        .expect(200);
      return (body as { items: unknown[] }).items.length;
    };
    for (const agent of AGENTS) {
      const { body } = await board.http.get('/api/v1/activity').query({ window: '7d', agent }).expect(200);
      const { total, since: from } = body as Activity;
      expect(Date.parse(from)).toBe(since);
      expect(total.ends - total.failures).toBe(await listed({ agent, state: 'completed' }));
    }
    const { body } = await board.http.get('/api/v1/activity').query({ window: '7d' }).expect(200);
    expect((body as Activity).total.failures).toBe((await listed({ state: 'failed' })) + retriedByHand);
  });

  it('is kept by the minute for a day, and by the hour for longer', async () => {
    clock.advance(27 * HOUR_MS);
    await board.app.app.get(Rollups, { strict: false }).run();
    await board.app.app.get(Retention, { strict: false }).run();
    const left = await board.app.database.rows<{ resolution: number }>(
      'select distinct resolution from activity_counts order by resolution',
    );
    expect(left.map(({ resolution }) => resolution)).toEqual([HOUR_MS]);
    await look();
  });
});
